#!/bin/sh
# Two hosts, each in a network namespace of its own, with a cable between them: a receiver, 203.0.113.1, that listens on
# ports 8443 and 8080, and a sender that has 203.0.113.7 and 203.0.113.8. Prints what reaches the receiver before and
# after the command line was run on the receiver. Run it in a new network namespace: unshare --net sh two-hosts.sh COMMAND…
set -e
here=$(dirname "$0")
ip link set lo up
unshare --net sleep 60 &
sender=$!
trap 'kill $sender $listener 2>/dev/null' EXIT
until [ "$(readlink "/proc/$sender/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done

ip link add receiver type veth peer name sender
ip link set sender netns "$sender"
ip addr add 203.0.113.1/24 dev receiver
ip link set receiver up
on_sender() { nsenter --net="/proc/$sender/ns/net" "$@"; }
on_sender ip addr add 203.0.113.7/24 dev sender
on_sender ip addr add 203.0.113.8/24 dev sender
on_sender ip link set sender up

node "$here/listen.js" 8443 8080 >"$1" &
listener=$!
until grep -q listening "$1"; do sleep 0.05; done
shift

attempts() {
  on_sender node "$here/connect.js" \
    '203.0.113.7>203.0.113.1:8443' '203.0.113.8>203.0.113.1:8443' '203.0.113.8>203.0.113.1:8080'
  node "$here/connect.js" '127.0.0.1>127.0.0.1:8443'
}
attempts
"$@" >&2
attempts
