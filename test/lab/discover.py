"""What keystoneauth, unmodified, makes of the endpoints of instance-ha: looks for the versions of the one in a region of the catalogue, then calls it.

Clients ask in three ways: for the versions of the address alone, for major version 1, and for the newest. Prints JSON, an object for each way."""
import json
import sys

import lab
from keystoneauth1 import adapter, session
from keystoneauth1.identity import v3

WAYS = {"any": {}, "1": {"min_version": "1", "max_version": "1.latest"}, "newest": {"max_version": "latest"}}


def found(region, wanted):
    login = v3.Password(lab.URL["identity"], username="masakari", password=lab.PW, project_name="service",
                        user_domain_name="Default", project_domain_name="Default")
    api = adapter.Adapter(session.Session(login), service_type="instance-ha", interface="public", region_name=region, **wanted)
    endpoint = api.get_endpoint_data()
    answer = api.get("/segments", microversion="1.2")
    return {"url": endpoint.url, "version": endpoint.api_version, "microversions": [endpoint.min_microversion, endpoint.max_microversion],
            "served": answer.headers.get("OpenStack-API-Version"), "segments": [one["name"] for one in answer.json()["segments"]]}


if __name__ == "__main__":
    print(json.dumps({way: found(sys.argv[1], wanted) for way, wanted in WAYS.items()}))
