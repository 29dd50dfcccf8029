#!/usr/bin/env bash
# Makes an authority and a certificate for a local run: certs/dev.sh [NAME...]. The names default to localhost; both
# live for 30 days. What is there already is replaced.
set -euo pipefail
umask 077

command -v openssl >/dev/null || {
  echo "openssl is missing (Debian: openssl)" >&2
  exit 1
}

readonly DIR="$(cd "$(dirname "$0")" && pwd)/dev"
readonly DAYS=30
names=("$@")
((${#names[@]})) || names=(localhost)

alternatives=IP:127.0.0.1
for name in "${names[@]}"; do
  alternatives+=,DNS:$name
done

mkdir -p "$DIR"
cd "$DIR"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days "$DAYS" -subj '/CN=warmgate development CA' \
  -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign \
  -keyout ca.key.pem -out ca.crt.pem 2>/dev/null

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days "$DAYS" -subj "/CN=${names[0]}" \
  -CA ca.crt.pem -CAkey ca.key.pem -addext basicConstraints=critical,CA:FALSE -addext "subjectAltName=$alternatives" \
  -addext extendedKeyUsage=serverAuth -keyout tls.key.pem -out tls.crt.pem 2>/dev/null

echo "$DIR: ca.crt.pem, tls.crt.pem and tls.key.pem for ${names[*]}, valid for $DAYS days"
