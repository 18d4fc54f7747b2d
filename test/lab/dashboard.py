"""Horizon with masakari-dashboard, both unmodified, in one process: logs in at Keystone, asks for pages and prints what stands on them.

Django's own client stands for browser and web server; everything behind it is real. Prints JSON, an object for each page."""
import html.parser
import json
import sys


def configure():
    """Debian's settings, pointed at the lab. Without a theme: stylesheets would have to be compiled first, and are not looked at here."""
    import os
    import types
    settings = types.ModuleType("lab_horizon_settings")
    os.environ["DJANGO_SETTINGS_MODULE"] = settings.__name__
    sys.modules[settings.__name__] = settings
    import openstack_dashboard.settings as debian
    settings.__dict__.update({name: value for name, value in vars(debian).items() if name.isupper()})
    import lab
    settings.ALLOWED_HOSTS = ["*"]
    settings.OPENSTACK_KEYSTONE_URL = lab.URL["identity"]
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    settings.COMPRESS_ENABLED = settings.COMPRESS_OFFLINE = False
    settings.COMPRESS_PRECOMPILERS = ()
    settings.LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "ERROR"}}
    import django
    django.setup()


class Page(html.parser.HTMLParser):
    """The text of a page's tables (a list of rows for each), of its pairs of term and value, and of its warnings."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.terms, self.alerts, self.rows = [], {}, [], []
        self._cell, self._term, self._value, self._alert, self._quiet = None, None, None, 0, False
        self.feed(text)

    def handle_starttag(self, tag, given):
        known = dict(given)
        classes = (known.get("class") or "").split()
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
            if "data-object-id" in known:
                self.rows.append(known["data-object-id"])
        elif tag in ("td", "th"):
            self._cell = ""
        elif tag == "dt":
            self._term = ""
        elif tag == "dd":
            self._value = ""
        if tag == "noscript":
            self._quiet = True
        elif self._alert:
            self._alert += tag == "div"
        elif not self._quiet and {"alert-danger", "alert-warning"} & set(classes):
            self._alert = 1
            self.alerts.append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._cell is not None:
            if self.tables and self.tables[-1]:
                self.tables[-1][-1].append(" ".join(self._cell.split()))
            self._cell = None
        elif tag == "dd" and self._value is not None:
            self.terms[" ".join((self._term or "").split())] = " ".join(self._value.split())
            self._value = None
        elif tag == "div" and self._alert:
            self._alert -= 1
        elif tag == "noscript":
            self._quiet = False

    def handle_data(self, data):
        if self._alert:
            self.alerts[-1] = " ".join((self.alerts[-1] + data).split())
        if self._cell is not None:
            self._cell += data
        elif self._value is not None:
            self._value += data
        elif self._term is not None:
            self._term = data if data.strip() else self._term


def main(user, password, paths):
    configure()
    from django.test import Client
    client = Client(HTTP_HOST="localhost")
    login = client.post("/auth/login/", {"username": user, "password": password, "domain": "Default", "region": "default"})
    if login.status_code != 302:
        sys.exit(f"lab: Horizon does not let {user} in: {login.status_code} {login.content.decode()[:2000]}")
    pages = []
    for path in paths:
        answer = client.get("/" + path)
        page = Page(answer.content.decode())
        pages.append({"path": path, "status": answer.status_code, "leads": answer.get("Location"), "alerts": page.alerts, "tables": page.tables,
                      "terms": page.terms, "rows": page.rows})
    print(json.dumps(pages))


if __name__ == "__main__":
    sys.path.insert(0, "/lab")
    import lab
    main("masakari", lab.PW, sys.argv[1:])
