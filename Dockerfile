# The image that `make image` writes without a daemon. `make image` also leaves the program that is copied here:
#   docker build --file Dockerfile target/x86_64-unknown-linux-gnu/release
FROM scratch
COPY --chmod=0755 warmgate /warmgate
USER 65532:65532
ENTRYPOINT ["/warmgate"]
