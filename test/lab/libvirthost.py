"""A compute host with a real hypervisor: PID, mount, UTS and IPC namespaces of its own, and in them libvirtd, QEMU guests and nova-compute.

The first process of the namespaces is the host's power: kill it, and all three die in the same instant, as in a power cut.
What a disk keeps (which guests are defined) lies in STATE/HOST/disk; what memory keeps (/run) is a tmpfs that dies with the host.
All hosts share one instances_path, and QEMU's image locks hold on it from host to host, as on NFS v4 or CephFS;
`lab fault HOST locks=false` takes them from a host (read when the host starts), as NFS with local locks does: a second QEMU may then open the disk."""
import fcntl
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import uuid

LAB = pathlib.Path("/lab")
ETC, STATE = LAB / "etc", LAB / "state"
INSTANCES = STATE / "instances"
# A libvirtd that takes a connection and never answers would be waited for without end. One that starts looks for half a minute for guests whose QEMU died.
ANSWER_S = 90
KEPT = {"etc": "/etc/libvirt", "lib": "/var/lib/libvirt", "cache": "/var/cache/libvirt", "log": "/var/log/libvirt"}

# Plain QEMU: no cgroups, AppArmor or ownership changes, and its own console file rather than virtlogd's.
QEMU_CONF = """user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = [ ]
cgroup_controllers = [ ]
stdio_handler = "file"
"""

# nova-compute asks libvirt who it is before it has registered an event loop if the host is new to Nova (seen with 31), and then hears no
# event until it is restarted; registering the loop first spares the lab that. The first heartbeat as in computes.py.
NOVA_COMPUTE = ("import libvirt, sys; libvirt.virEventRegisterDefaultImpl(); import nova.cmd.compute as c, nova.servicegroup.api as s; "
                "s.INITIAL_REPORTING_DELAY = 1; sys.exit(c.main())")


def nova_conf(host):
    """The host's own options, on top of the lab's nova.conf. The first power sync comes at once: within a minute it would catch killed guests."""
    return f"""[DEFAULT]
host = {host}
state_path = {STATE / host}
compute_driver = libvirt.LibvirtDriver
instances_path = {INSTANCES}
cpu_allocation_ratio = 100
ram_allocation_ratio = 10
disk_allocation_ratio = 100
reserved_host_memory_mb = 0
shutdown_timeout = 5
periodic_fuzzy_delay = 0
[libvirt]
virt_type = qemu
cpu_mode = none
[oslo_concurrency]
lock_path = {STATE / host}/lock
[nova_sys_admin]
helper_command = privsep-helper --config-file {ETC}/nova.conf --config-file {ETC}/{host}.conf
"""


def power_on_command(host):
    return ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "python3", "/lab/libvirthost.py", host]


def inside(power, *command):
    """The command line that runs a command in a host; power is the pid of its unshare, whose one child is the namespaces' first process."""
    first = pathlib.Path(f"/proc/{power}/task/{power}/children").read_text().split()[0]
    return ["nsenter", "-t", first, "-m", "-u", "-i", "-p", "-r", "-w", *command]


def befall(power, guest, what):
    """Makes a guest's QEMU die, or pauses it. Unheard: while libvirtd, which would tell nova-compute, is away for a moment."""
    die = ["pkill", "-KILL", "-f", f"qemu.* -uuid {guest}"]
    commands = {
        "crash": [die],
        "crash-unheard": [["pkill", "-KILL", "-x", "libvirtd"], die],
        "pause": [["virsh", "-c", "qemu:///system", "suspend", guest]],
    }
    try:
        for command in commands[what]:
            subprocess.run(inside(power, *command), check=True, stdout=subprocess.DEVNULL, timeout=ANSWER_S)
    finally:
        # Also where the guest had no QEMU: a host without a libvirtd fails everything that comes after.
        if what == "crash-unheard":
            subprocess.run(inside(power, "setsid", "sh", "-c", "libvirtd >/dev/null 2>&1 &"), check=True)
    wait_libvirt(power)


def wait_libvirt(power, seconds=180):
    end = time.time() + seconds
    while time.time() < end:
        try:
            if not subprocess.run(inside(power, "virsh", "-c", "qemu:///system", "list"), capture_output=True, timeout=ANSWER_S).returncode:
                return
        except (OSError, IndexError, subprocess.TimeoutExpired):
            pass
        time.sleep(0.1)
    sys.exit(f"lab: a host's libvirtd did not answer within {seconds} s")


def record(host, guest, event, running):
    with open(STATE / "events.jsonl", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(json.dumps({"t": time.time(), "host": host, "uuid": guest, "event": event, "running": running}) + "\n")


def boot(host):
    """The host's first process: its own /run, /etc/libvirt and name; libvirtd; and from then on the log of which guest runs."""
    disk, faults = STATE / host / "disk", STATE / host / "faults.json"
    socket.sethostname(host)
    for name, path in KEPT.items():
        (disk / name).mkdir(parents=True, exist_ok=True)
        os.makedirs(path, exist_ok=True)
        subprocess.run(["mount", "--bind", disk / name, path], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    os.makedirs("/run/lock")
    if faults.exists() and json.loads(faults.read_text()).get("locks") is False:
        subprocess.run(["bindfs", "-o", "allow_other,nonempty", INSTANCES, INSTANCES], check=True)  # FUSE keeps its locks to itself
    (disk / "etc" / "qemu.conf").write_text(QEMU_CONF)
    (disk / "etc" / "libvirtd.conf").write_text(
        f'host_uuid = "{uuid.uuid5(uuid.NAMESPACE_DNS, "libvirt." + host)}"\n'
        'auth_unix_ro = "none"\nauth_unix_rw = "none"\nunix_sock_group = "root"\nlog_outputs = "3:stderr"\n')
    subprocess.Popen(["libvirtd"], stdin=subprocess.DEVNULL)
    watch(host)


def watch(host):
    import libvirt
    libvirt.virEventRegisterDefaultImpl()
    libvirt.registerErrorHandler(lambda *_: None, None)
    names = {libvirt.VIR_DOMAIN_EVENT_STARTED: ("started", True), libvirt.VIR_DOMAIN_EVENT_RESUMED: ("resumed", True),
             libvirt.VIR_DOMAIN_EVENT_SUSPENDED: ("suspended", True), libvirt.VIR_DOMAIN_EVENT_STOPPED: ("stopped", False)}

    last = {}

    def note(guest, name, running):
        if last.get(guest) != running:  # a start is a resume and a start to libvirt
            last[guest] = running
            record(host, guest, name, running)

    def lifecycle(_conn, domain, event, detail, _):
        if event in names:
            note(domain.UUIDString(), *names[event])

    def connected():
        """Waits for libvirtd. What ended while it was away it tells nobody: the list of what runs shows it."""
        while True:
            try:
                conn = libvirt.open("qemu:///system")
                conn.domainEventRegisterAny(None, libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE, lifecycle, None)
                runs = {domain.UUIDString() for domain in conn.listAllDomains(libvirt.VIR_CONNECT_LIST_DOMAINS_ACTIVE)}
            except libvirt.libvirtError:
                time.sleep(0.1)
                continue
            for guest in [guest for guest, running in last.items() if running and guest not in runs]:
                note(guest, "stopped", False)
            return conn

    def reap(_timer, _):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    libvirt.virEventAddTimeout(200, reap, None)
    conn = connected()
    while True:
        libvirt.virEventRunDefaultImpl()
        if not conn.isAlive():
            conn = connected()


if __name__ == "__main__":
    boot(sys.argv[1])
