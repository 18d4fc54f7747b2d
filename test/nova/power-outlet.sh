#!/bin/sh
# A switched power outlet for the lab's hosts: the second way to take a host's power when its BMC is gone.
#   power-outlet.sh off HOST      cuts the power (crashes the host)
#   power-outlet.sh verify HOST   0: nothing runs there, 1: a guest runs there, 2: nobody knows
set -eu
# The system's own Python: a version switcher's costs ten times as much, and this is asked every other second.
python=/usr/bin/python3
lab="$(dirname "$0")/../lab/lab"
case "$1" in
  off) "$lab" crash "$2" ;;
  verify) "$lab" truth | $python -c '
import json, sys
running = json.load(sys.stdin)["running"]
sys.exit(1 if any(sys.argv[1] in hosts for hosts in running.values()) else 0)' "$2" || exit $? ;;
  *) exit 2 ;;
esac
