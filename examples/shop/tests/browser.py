"""Headless Chromium, driven over a pipe: no port is opened, and no package is needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def program():
    return next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)


class Browser:
    """One Chromium with its own profile, until the end of the `with`."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="assay-shop-browser-")
        to_it, self.write = os.pipe()
        self.read, from_it = os.pipe()
        command = [program(), "--headless=new", "--disable-gpu", "--no-first-run", "--no-sandbox",
                   "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--force-color-profile=srgb",
                   f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"]

        def place():
            os.dup2(to_it, 63)
            os.dup2(from_it, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=place, close_fds=False)
        os.close(to_it)
        os.close(from_it)
        self.number, self.rest, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    session = None

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            some = os.read(self.read, 1 << 16)
            if not some:
                raise EOFError("Chromium has ended")
            self.rest += some
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.write, json.dumps(asked).encode() + b"\0")
        while True:
            found = self.message()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.events.append(found)

    def open(self, url, login, width, scheme):
        """Load a page and return its requests and error messages."""
        self.events = []
        token = base64.b64encode(login.encode()).decode()
        self.call("Network.setExtraHTTPHeaders", headers={"Authorization": f"Basic {token}"})
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        while not any(one["method"] == "Page.loadEventFired" for one in self.events):
            self.events.append(self.message())
        asked = [one["params"]["request"]["url"] for one in self.events
                 if one["method"] == "Network.requestWillBeSent"]
        complaints = [one["params"]["entry"]["text"] for one in self.events
                      if one["method"] == "Log.entryAdded"]
        return asked, complaints

    def evaluate(self, text):
        found = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"]["value"]

    def picture(self, width, height):
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                          clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        return base64.b64decode(found["data"])
