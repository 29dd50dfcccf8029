module warmgate/tests/cluster/cert-manager

go 1.26

require github.com/cert-manager/cert-manager v1.21.2
