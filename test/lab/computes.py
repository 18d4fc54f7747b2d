"""Starts nova-computes from a process that has Nova loaded already: loading it takes a core for seconds, at each start of a host.

Reads a line of JSON for each start from the FIFO that it is given: argv, env, and the files for its log and its process id."""
import gc
import json
import os
import posix  # Nova patches os to run green threads, and a parent that has begun one leaves its children a broken hub.
import random
import signal
import sys

import nova.cmd.compute
import nova.compute.manager  # noqa: F401
import nova.conductor.rpcapi  # noqa: F401
import nova.servicegroup.api
import nova.virt.fake  # noqa: F401
from nova import objects

nova.virt.__path__.append("/lab")
# A start's first heartbeat. Nova's is 5 s, half its report_interval of 10 s; the lab's report_interval is 2 s.
nova.servicegroup.api.INITIAL_REPORTING_DELAY = 1


def start(order):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(order["env"])
    random.seed()
    sys.argv = ["nova-compute", *order["argv"]]
    # In one move: who waits for it must not read half of it.
    with open(order["pid"] + ".part", "w") as pid:
        pid.write(str(os.getpid()))
    os.rename(order["pid"] + ".part", order["pid"])
    sys.exit(nova.cmd.compute.main())


def main(fifo):
    objects.register_all()
    # Nobody waits for a child: without this each that is killed stays a zombie.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    os.mkfifo(fifo + ".part")
    orders = posix.open(fifo + ".part", os.O_RDWR)
    os.rename(fifo + ".part", fifo)
    rest = b""
    while True:
        *lines, rest = (rest + posix.read(orders, 65536)).split(b"\n")
        for line in lines:
            if os.fork() == 0:
                posix.close(orders)
                start(json.loads(line))


main(sys.argv[1])
