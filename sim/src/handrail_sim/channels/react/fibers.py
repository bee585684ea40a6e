"""React's DevTools hook over an app's real views: every view is a host component, below those that drew it.

Measured as the old architecture does: dp, from the lower edge of the status bar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail_sim.channels.react.component import Component, component_of
from handrail_sim.js.define import getter, methods
from handrail_sim.js.lib_collections import identity
from handrail_sim.js.values import UNDEFINED, Func, Obj, Value

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm
    from handrail_sim.system.activities import Context
    from handrail_sim.view.view import View

FUNCTION, ROOT, HOST, FORWARD_REF = 0, 3, 5, 11  # React's tags of fibers
MEASURE_MS = 4.0  # the native side answers later
FIRST_TAG = 3
Later = Callable[..., object]
"""delay in ms, a function of the realm, its arguments."""
_HOSTS = {
    "android.widget.TextView": "RCTText",
    "android.widget.EditText": "AndroidTextInput",
    "android.widget.ImageView": "RCTImageView",
    "android.widget.ScrollView": "RCTScrollView",
    "com.horcrux.svg.SvgView": "RNSVGSvgView",
    "com.horcrux.svg.GroupView": "RNSVGGroup",
    "com.horcrux.svg.PathView": "RNSVGPath",
}
_DRAWN_BY = {"RCTText": "Text", "RCTImageView": "Image", "RCTScrollView": "ScrollView", "RNSVGSvgView": "Svg"}
_DRAWN_BY |= {"RNSVGGroup": "G", "RNSVGPath": "Path", "AndroidTextInput": "TextInput", "RCTView": "View"}


def hook(realm: Realm, phone: Context, package: str, later: Later) -> Obj:
    """`__REACT_DEVTOOLS_GLOBAL_HOOK__` with one renderer; the tree is that of the moment it is asked for."""
    tree = _Fibers(realm, phone, package, later)
    root = realm.object({"tag": 1})
    getter(realm, root, "current", lambda _: tree.current())
    renderer = realm.object({"version": "18.2.0", "rendererPackageName": "react-native-renderer"})
    made = realm.object({"supportsFiber": True, "renderers": realm.globals.get("Map").new([])})
    made.get("renderers").own[identity(1)] = (1, renderer)
    roots = realm.globals.get("Set").new([realm.array([root])])
    none = realm.globals.get("Set").new([])
    methods(
        realm,
        made,
        {
            "getFiberRoots": lambda _, given: roots if given and given[0] == 1 else none,
            "onCommitFiberRoot": lambda *_: UNDEFINED,
            "onCommitFiberUnmount": lambda *_: UNDEFINED,
            "inject": lambda *_: 1,
        },
    )
    return made


class _Fibers:
    """Makes the fibers of what an app shows."""

    def __init__(self, realm: Realm, phone: Context, package: str, later: Later) -> None:
        self._realm = realm
        self._later = later
        self._phone = phone
        self._package = package
        self._types: dict[str, Obj] = {}
        self._tag = FIRST_TAG

    def current(self) -> Obj:
        """The root fiber."""
        self._tag = FIRST_TAG
        root = self._fiber(ROOT, None, {}, None)
        view = self._root_view()
        if view is not None:
            self._adopt(root, [self._of(view)])
        return root

    def _root_view(self) -> View | None:
        """The outermost view that a component drew, in the app's topmost window."""
        own = [window for window in self._phone.windows() if window.package == self._package]
        drawn = [view for window in own[-1:] for view in window.views() if component_of(view) is not None]
        return drawn[0] if drawn else None

    def _of(self, view: View) -> Obj:
        """The view's host, below the component it is said to be from and React Native's own."""
        host_type = _HOSTS.get(view.cls, "RCTView")
        host = self._fiber(HOST, host_type, self._props(view), self._instance(view))
        self._adopt(host, [self._of(child) for child in view.children])
        native = "Pressable" if view.on_click is not None else _DRAWN_BY[host_type]
        inner = self._composite(Component(native), host, FORWARD_REF)
        component = component_of(view)
        return inner if component is None else self._composite(component, inner, FUNCTION)

    def _composite(self, component: Component, below: Obj, tag: int) -> Obj:
        made = self._fiber(tag, self._type(component.name, tag), dict(component.props), None)
        self._adopt(made, [below])
        return made

    def _type(self, name: str, tag: int) -> Obj:
        if name not in self._types:
            function: Func = self._realm.function(lambda *_: None, name)
            wrapped = self._realm.object({"render": function, "displayName": name})
            self._types[name] = wrapped if tag == FORWARD_REF else function
        return self._types[name]

    def _fiber(self, tag: int, kind: Value, props: dict[str, Value], node: Value) -> Obj:
        return self._realm.object(
            {
                "tag": tag,
                "key": None,
                "type": kind,
                "elementType": kind,
                "stateNode": node,
                "memoizedProps": self._realm.object(props),
                "memoizedState": None,
                "child": None,
                "sibling": None,
                "return": None,
                "_debugOwner": None,
            }
        )

    def _adopt(self, parent: Obj, children: list[Obj]) -> None:
        for at, child in enumerate(children):
            child.props["return"] = parent
            child.props["sibling"] = children[at + 1] if at + 1 < len(children) else None
        parent.props["child"] = children[0] if children else None

    def _props(self, view: View) -> dict[str, Value]:
        found: dict[str, Value] = {"accessible": view.on_click is not None}
        if view.text:
            found["children"] = view.text
        if view.desc:
            found["accessibilityLabel"] = view.desc
        if view.id.startswith("=") and len(view.id) > 1:
            found["testID"] = view.id[1:]
        return found

    def _instance(self, view: View) -> Obj:
        self._tag += 2
        made = self._realm.object({"_nativeTag": self._tag, "canonical": None})
        units, top = self._phone.units, self._phone.display.status_px
        box = (view.x / units.dp, (view.y - top) / units.dp, view.w / units.dp, view.h / units.dp)

        def measure(_: Value, given: list[Value]) -> Value:
            self._later(MEASURE_MS, given[0], *box)
            return UNDEFINED

        methods(self._realm, made, {"measureInWindow": measure})
        return made
