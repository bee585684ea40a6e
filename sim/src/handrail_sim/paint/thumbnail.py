"""Scenes made small: how the recents screen shows what an app looked like."""

from __future__ import annotations

from handrail_sim.paint.scene import Arc, Box, Drawing, Line, Run, Shadow, Shape, Sign


class Reduction:
    """Moves and shrinks shapes from a screen of `source` width to a smaller box."""

    def __init__(self, source: Box, target: Box) -> None:
        self._factor = (target[2] - target[0]) / max(1, source[2] - source[0])
        self._shift = (target[0] - source[0] * self._factor, target[1] - source[1] * self._factor)

    def box(self, box: Box) -> Box:
        left, top = self._point(box[0], box[1])
        right, bottom = self._point(box[2], box[3])
        return round(left), round(top), round(right), round(bottom)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return x * self._factor + self._shift[0], y * self._factor + self._shift[1]

    def _length(self, length: float) -> int:
        return max(1, round(length * self._factor)) if length else 0

    def shape(self, shape: Shape) -> Shape:
        match shape:
            case Run():
                x, baseline = self._point(shape.x, shape.baseline)
                return shape._replace(x=x, baseline=round(baseline), size=max(1.0, shape.size * self._factor))
            case Sign():
                x, y = self._point(shape.x, shape.y)
                return shape._replace(x=round(x), y=round(y), size=self._length(shape.size))
            case Line():
                return shape._replace(
                    start=self._point(*shape.start),
                    end=self._point(*shape.end),
                    width=shape.width * self._factor,
                )
            case Arc():
                return shape._replace(box=self.box(shape.box), width=self._length(shape.width))
            case Shadow():
                depth, radius = max(2, self._length(shape.depth)), self._length(shape.radius)
                return shape._replace(box=self.box(shape.box), depth=depth, radius=radius)
            case Drawing():
                return shape._replace(box=self.box(shape.box))
            case _:
                return shape._replace(box=self.box(shape.box), radius=self._length(shape.radius))
