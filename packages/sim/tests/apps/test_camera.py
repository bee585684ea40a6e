from __future__ import annotations

import sys
from io import BytesIO

import pytest
from PIL import Image

from tests.apps.owner import Owner, story
from tests.shell_person import out

PACKAGE = "com.android.camera2"


def names(owner: Owner, folder: str) -> list[str]:
    return owner.phone.files.list(f"/sdcard/{folder}")


@story("camera")
def test_a_photo_is_a_picture_that_the_media_provider_lists(owner: Owner) -> None:
    owner.open(PACKAGE)
    owner.tap("Shutter")
    owner.tap("Shutter")
    found = names(owner, "Pictures")
    assert len(found) == 2
    pictures = [Image.open(BytesIO(owner.phone.files.read(f"/sdcard/Pictures/{name}"))) for name in found]
    assert [one.format for one in pictures] == ["JPEG", "JPEG"]
    assert pictures[0].tobytes() != pictures[1].tobytes()
    text = out("content query --uri content://media/external/images/media", phone=owner.phone)
    assert all(f"_display_name={name}" in text for name in found)
    assert f"width={pictures[0].width}, height={pictures[0].height}" in text


@story("camera")
def test_a_video_lasts_as_long_as_it_was_recorded(owner: Owner) -> None:
    av = pytest.importorskip("av")
    owner.open(PACKAGE)
    owner.tap("Video")
    owner.tap("Shutter")
    owner.wait(3000)
    assert not names(owner, "Movies")
    owner.tap("Stop recording")
    [name] = names(owner, "Movies")
    with av.open(BytesIO(owner.phone.files.read(f"/sdcard/Movies/{name}"))) as video:
        assert video.streams.video[0].codec_context.name == "h264"
        assert 3.0 <= video.duration / av.time_base <= 5.0
    assert "mime_type=video/mp4" in out(
        "content query --uri content://media/external/video/media", phone=owner.phone
    )


def test_a_host_without_encoder_is_a_phone_that_records_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    owner = Owner("camera")
    owner.open(PACKAGE)
    owner.tap("Video")
    owner.tap("Shutter")
    owner.tap("Stop recording")
    assert owner.phone.state()["last_toast"] == "Can't record video"
    assert names(owner, "Movies") == []
    assert "handrail-sim[video]" in caplog.text
