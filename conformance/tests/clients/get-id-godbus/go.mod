// Built by the long form of the test `user_namespaces`: nothing of Diligence needs this library.
// Newer versions need Go 1.20, but Debian 12 has Go 1.19.
module get-id-godbus

go 1.19

require github.com/godbus/dbus/v5 v5.1.0
