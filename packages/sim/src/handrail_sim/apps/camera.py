"""Camera: a viewfinder, a shutter, photos and videos as files that the media provider lists."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from handrail_sim.apps.manifests import declared
from handrail_sim.paint.video import NoEncoder, Video
from handrail_sim.system import media
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.device import Device
from handrail_sim.view import View, frame, icon_button, image, screen, tabs, text

PHOTO_PX, VIDEO_PX = (1280, 960), (320, 240)
_MOST_FRAMES = 60  # of one video: one a second
_MODES = ("Camera", "Video")


class Viewfinder(Activity):
    """`state["seen"]` counts the views: each picture that is taken shows another one."""

    title = "Camera"
    orientation = "portrait"

    def on_create(self) -> None:
        video = self.intent.action.endswith(("VIDEO_CAMERA", "VIDEO_CAPTURE"))
        self.state.update(mode=int(video), seen=0, since_ms=0, last="")

    def build(self) -> View:
        since = self.state["since_ms"]
        seconds = (self.phone.wall_ms() - since) // 1000 if since else 0
        mode = _MODES[self.state["mode"]]
        return screen(
            frame(
                image(self.scene, "Viewfinder", id="preview_content", width="fill", height="fill"),
                text(f"{seconds // 60:02d}:{seconds % 60:02d}", "title", id="recording_time", padding=16.0)
                if since
                else None,
                self.thumbnail() if self.state["last"] else None,
                weight=1.0,
            ),
            tabs(_MODES, self.state["mode"], self.choose_mode),
            icon_button(
                "stop" if since else "video" if mode == "Video" else "camera",
                "Stop recording" if since else "Shutter",
                self.press,
                id="shutter_button",
                width=72.0,
                height=72.0,
                padding=20.0,
                margin=(0.0, 16.0),
                align="center_h",
            ),
        )

    def thumbnail(self) -> View:
        """What was taken last, small, as AOSP's camera shows it."""
        words = f"Most recent capture, {self.state['last']}"
        return image(
            f"landscape:{self.state['last']}",
            words,
            id="rounded_thumbnail_view",
            width=56.0,
            height=56.0,
            margin=16.0,
            align="bottom",
        )

    @property
    def scene(self) -> str:
        return f"landscape:camera {self.phone.seed} {self.state['seen']}"

    def choose_mode(self, mode: int) -> None:
        if not self.state["since_ms"]:
            self.state["mode"] = mode

    def press(self) -> None:
        if self.state["mode"] == 0:
            self.take_photo()
        elif not self.state["since_ms"]:
            self.state["since_ms"] = self.phone.wall_ms()
            self.every(1000.0, self.changed)
        else:
            self.end_video()

    def on_key(self, code: int) -> bool:
        if code in (27, 24, 25):  # camera, volume up and down
            self.press()
            return True
        return False

    def take_photo(self) -> None:
        path = keep(self.phone, "IMG", ".jpg", photo(self.scene), media_type=1)
        self.state["last"] = path.rpartition("/")[2]
        self.state["seen"] += 1
        if self.intent.action.endswith("_CAPTURE"):
            self.finish({"data": "photo"})

    def end_video(self) -> None:
        seconds = (self.phone.wall_ms() - self.state["since_ms"]) // 1000
        self.state["since_ms"] = 0
        self.stop_timers()
        try:
            output = video(self.scene, max(1, seconds))
        except NoEncoder:
            self.toast("Can't record video")
            return
        self.state["last"] = keep(self.phone, "VID", ".mp4", output, media_type=3).rpartition("/")[2]
        self.state["seen"] += 1

    def on_pause(self) -> None:
        if self.state["since_ms"]:
            self.end_video()


def photo(scene: str) -> bytes:
    """The scene as a JPEG."""
    file = BytesIO()
    _paint(scene, PHOTO_PX).save(file, "JPEG", quality=85)
    return file.getvalue()


def video(scene: str, seconds: int) -> bytes:
    created, picture = Video(*VIDEO_PX), _paint(scene, VIDEO_PX)
    for second in range(min(seconds, _MOST_FRAMES) + 1):
        created.add(picture, second * 1000.0)
    return created.finish()


def _paint(scene: str, size: tuple[int, int]) -> Any:
    from handrail_sim.paint.images import picture  # noqa: PLC0415 - Pillow comes with the first picture

    return picture(scene, size, (0, 0, *size), 1.0, 0.0).convert("RGB")


def keep(phone: Device, prefix: str, ending: str, data: bytes, media_type: int) -> str:
    """Through the media provider, which has a home for each kind: Pictures and Movies."""
    name = f"{prefix}_{phone.local():%Y%m%d_%H%M%S}"
    database = phone.providers.database("external.db")
    folder = f"{media.ROOT}/{media.HOMES[media_type]}"
    taken = set(phone.files.list(folder)) if phone.files.is_dir(folder) else set()
    name = next(
        word for word in (name, *(f"{name}_{at}" for at in range(1, 10_000))) if word + ending not in taken
    )
    path = f"{folder}/{name}{ending}"
    media.insert(phone, database, {"_data": path})
    phone.files.write(path, data)
    media.refresh(phone, database)
    return path


@declared
class Camera(App):
    """com.android.camera2, as on emulators."""

    activities = {
        "com.android.camera.CameraLauncher": Viewfinder,
        "com.android.camera.CaptureActivity": Viewfinder,
    }

    def state(self) -> dict[str, Any]:
        folders = [f"{media.ROOT}/{media.HOMES[kind]}" for kind in (1, 3)]
        there = [folder for folder in folders if self.phone.files.is_dir(folder)]
        return {"files": [f"{folder}/{name}" for folder in there for name in self.phone.files.list(folder)]}


APP = Camera
