"""openstacksdk, unmodified, lists what instance-ha has by one row a page, among few rows and while rows are added.

Prints JSON, an object for each kind of row. "few": of none, one and two rows, the ids of a list without a limit and of one by pages. "growing": the ids of
a list before, and of one by pages during which a row was added after each."""
import datetime
import json

import lab
import openstack


def kinds(ha):
    """Of each kind: how its rows are listed, and generators that add one at each step."""
    def segments():
        for n in range(12):
            yield ha.create_segment(name=f"row {n}", recovery_method="auto", service_type="COMPUTE")

    def hosts(segment):
        for n in range(1, 5):
            yield ha.create_host(segment_id=segment, name=f"cmp{n:02}", type="COMPUTE", control_attributes="SSH")

    def notifications():
        for n in range(12):
            yield ha.create_notification(type="PROCESS", hostname="cmp01", generated_time=datetime.datetime.now(datetime.timezone.utc).isoformat(),
                                         payload={"event": "STARTED", "process_name": f"process-{n}"})

    yield "segments", ha.segments, segments()
    segment = next(ha.segments()).uuid
    yield "hosts", lambda **query: ha.hosts(segment, **query), hosts(segment)
    yield "notifications", ha.notifications, notifications()


def ids(rows, after_each=lambda: None):
    found = []
    for row in rows:
        found.append(row.id)
        after_each()
    return found


def pages(listed, added):
    def add():
        next(added, None)
    few = []
    for _ in range(3):
        few.append([ids(listed()), ids(listed(limit=1))])
        add()
    return {"few": few, "growing": [ids(listed()), ids(listed(limit=1), add)]}


if __name__ == "__main__":
    connection = openstack.connect(load_envvars=False, load_yaml_config=False, auth_url=lab.URL["identity"], username="masakari", password=lab.PW,
                                   project_name="service", user_domain_name="Default", project_domain_name="Default", region_name="RegionOne")
    print(json.dumps({kind: pages(listed, added) for kind, listed, added in kinds(connection.instance_ha)}))
