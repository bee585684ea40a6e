package dev.handrail.helper;

import android.graphics.Bitmap;
import android.util.Base64;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The paths and what they do: those of seed 003's helper by its names, and ours.
 *
 * Every body may hold `rest`: then the answer comes when the screen rests, and holds the look. That is one
 * round trip from a touch to its proof.
 */
final class Operations implements Http.Handler {
    /** What the seed's `wait-idle` names at most. */
    private static final int MAX_EVENT_NAMES = 16;
    private static final int HEARTBEAT_MS = 1000;
    private static final int DEFAULT_QUALITY = 80;
    private static final int WINDOW_POLL_MS = 50;
    private static final Map<String, Integer> GLOBALS = new LinkedHashMap<String, Integer>();

    static {
        GLOBALS.put("back", 1);
        GLOBALS.put("home", 2);
        GLOBALS.put("recents", 3);
        GLOBALS.put("notifications", 4);
        GLOBALS.put("quick_settings", 5);
    }

    private final Phone phone;
    private final EventLog events;
    private final Runnable stop;
    /** Hands and eyes are used by one request at a time; events are not. */
    private final Object lock = new Object();
    private final TextEntry texts;

    Operations(Phone phone, EventLog events, KeyCharacterMap keys, Runnable stop) {
        this.phone = phone;
        this.events = events;
        this.texts = new TextEntry(phone, keys);
        this.stop = stop;
    }

    @Override
    public void handle(Http.Request request, Http.Answer answer) throws Exception {
        if (request.path.equals(Protocol.EVENTS)) {
            stream(request, answer);
            return;
        }
        synchronized (lock) {
            if (request.method.equals("GET")) {
                get(request, answer);
            } else if (request.method.equals("POST")) {
                post(request, new JsonWriter(answer));
            } else {
                throw notFound(request);
            }
        }
    }

    private void get(Http.Request request, Http.Answer answer) throws Exception {
        JsonWriter json = new JsonWriter(answer);
        Map<String, String> query = request.query;
        switch (request.path) {
            case Protocol.STATUS:
                json.object().field("ok", true).field("name", Protocol.NAME).field("version", Protocol.VERSION)
                        .field("protocolVersion", Protocol.PROTOCOL_VERSION).field("sdkInt", phone.sdk())
                        .field("device", phone.model()).field("manufacturer", phone.manufacturer())
                        .endObject();
                break;
            case Protocol.TREE:
                tree(json, query);
                break;
            case Protocol.FRAMEWORK:
                framework(json, query.get("package"));
                break;
            case Protocol.WAIT_IDLE:
                waitIdle(json, number(query, "timeoutMs", Protocol.REST_TIMEOUT_MS), query.get("package"));
                break;
            case Protocol.SCREENSHOT:
                screenshot(query, json, answer);
                break;
            case Protocol.LOOK:
                List<Phone.Window> windows = awaitWindows();
                if (isEmpty(windows)) {
                    throw new Refusal(Protocol.NO_ACTIVE_WINDOW, "no window shows anything to accessibility");
                }
                json.object().field("ok", true);
                look(json, windows);
                json.endObject();
                break;
            case Protocol.CLIPBOARD:
                json.object().field("ok", true).field("text", phone.clipboard()).endObject();
                break;
            case Protocol.ROTATION:
                json.object().field("ok", true).field("rotation", phone.display().rotation).endObject();
                break;
            case Protocol.TOP:
                json.object().field("ok", true).field("activity", phone.top()).endObject();
                break;
            default:
                throw notFound(request);
        }
        json.flush();
    }

    private void post(Http.Request request, JsonWriter json) throws Exception {
        Map<?, ?> body = body(request);
        long before = events.last();
        Object rest = request.path.equals(Protocol.REST) ? body : body.get("rest");
        json.object();
        act(request, body, json);
        json.field("ok", true);
        if (rest instanceof Map) {
            rest(json, (Map<?, ?>) rest, before);
        }
        json.endObject().flush();
    }

    /** Throws before the first byte of the answer has left, because the writer keeps it until it flushes. */
    private void act(Http.Request request, Map<?, ?> body, JsonWriter json) throws Exception {
        switch (request.path) {
            case Protocol.TAP:
            case Protocol.TAP_COORDINATES:
                play(json, Gestures.press(pixel(body, "x"), pixel(body, "y"), 0));
                break;
            case Protocol.LONG_PRESS:
                play(json, Gestures.press(pixel(body, "x"), pixel(body, "y"), duration(body, 1000)));
                break;
            case Protocol.SWIPE:
                play(json, Gestures.line(pixel(body, "x1"), pixel(body, "y1"), pixel(body, "x2"),
                        pixel(body, "y2"), duration(body, 300)));
                break;
            case Protocol.GESTURE:
                perform(json, Gestures.read(body.get("strokes")));
                break;
            case Protocol.KEY:
                key((int) number(body, "keycode"), body.get("metaState") == null ? 0
                        : (int) number(body, "metaState"));
                break;
            case Protocol.TEXT:
                text(json, body);
                break;
            case Protocol.CLIPBOARD:
                phone.setClipboard(string(body, "text"));
                break;
            case Protocol.GLOBAL:
                Integer action = GLOBALS.get(string(body, "action"));
                if (action == null) {
                    throw bad("action is one of " + GLOBALS.keySet());
                }
                accepted(phone.global(action), "the platform refused it");
                break;
            case Protocol.ROTATION:
                accepted(phone.rotate((int) number(body, "rotation")), "the platform refused it");
                break;
            case Protocol.REST:
                break;
            case Protocol.SHUTDOWN:
                stop.run();
                break;
            default:
                throw notFound(request);
        }
    }

    private static void accepted(boolean done, String words) throws Refusal {
        if (!done) {
            throw new Refusal(Protocol.REFUSED, words);
        }
    }

    private void play(JsonWriter json, Gestures.Stroke stroke) throws Exception {
        perform(json, Collections.singletonList(stroke));
    }

    private void perform(JsonWriter json, List<Gestures.Stroke> strokes) throws Exception {
        json.field("events", Gestures.play(phone, Gestures.plan(strokes, phone.display().rate)));
    }

    private void key(int code, int meta) throws Refusal {
        long now = phone.uptimeMs();
        for (int action = KeyEvent.ACTION_DOWN; action <= KeyEvent.ACTION_UP; action++) {
            KeyEvent event = new KeyEvent(now, now, action, code, 0, meta, KeyCharacterMap.VIRTUAL_KEYBOARD, 0,
                    0, InputDevice.SOURCE_KEYBOARD);
            Gestures.send(phone, event, true, action > 0);
        }
    }

    /** The seed's form types at the cursor; `"way": "set"` replaces the field's text. */
    private void text(JsonWriter json, Map<?, ?> body) throws Exception {
        String text = string(body, "text");
        TextEntry.Outcome outcome = TextEntry.SET.equals(body.get("way"))
                ? texts.replace(text) : texts.type(text);
        json.field("way", outcome.way).field("readBack", outcome.readBack).ifTrue("password", outcome.password);
    }

    /** The seed's tree: the active window alone. */
    private void tree(JsonWriter json, Map<String, String> query) throws Exception {
        AccessibilityNodeInfo root = null;
        for (Phone.Window window : phone.windows()) {
            root = root == null || window.active ? window.root == null ? root : window.root : root;
        }
        if (root == null) {
            throw new Refusal(Protocol.NO_ACTIVE_WINDOW, "No active window");
        }
        String packageName = query.get("package");
        boolean compact = "1".equals(query.get("compact")) || "true".equals(query.get("compact"));
        json.object().field("ok", true)
                .field("packageName", packageName == null ? root.getPackageName() : packageName)
                .field("compact", compact).name("tree");
        new NodeWriter(json, phone).write(root, true);
        json.endObject();
    }

    /** Fields of the enclosing object: the display, what is in front, and every window with its nodes. */
    private void look(JsonWriter json, List<Phone.Window> windows) throws IOException {
        Phone.Display display = phone.display();
        json.field("sdkInt", phone.sdk()).object("display").field("width", display.width)
                .field("height", display.height).field("rotation", display.rotation)
                .field("density", display.density).endObject();
        json.unlessEmpty("top", phone.top()).field("lastEvent", events.last());
        NodeWriter nodes = new NodeWriter(json, phone);
        json.array("windows");
        for (Phone.Window window : windows) {
            window(json, window, nodes);
        }
        json.endArray();
        messages(json);
        json.field("nodes", nodes.nodes);
        for (Object[] count : new Object[][] {{"cycles", nodes.cycles}, {"missing", nodes.missing},
            {"unreadable", nodes.unreadable}}) {
            if ((Integer) count[1] > 0) {
                json.field((String) count[0], (Integer) count[1]);
            }
        }
    }

    /** Toasts and notifications that were heard of a moment ago: no tree has them. */
    private void messages(JsonWriter json) throws IOException {
        json.array("toasts");
        for (EventLog.Entry entry : events.since(0)) {
            if (entry.isMessage() && phone.uptimeMs() - entry.atMs <= Protocol.MESSAGE_MS) {
                json.object().field("className", entry.className).field("packageName", entry.packageName)
                        .field("text", entry.texts.get(0)).endObject();
            }
        }
        json.endArray();
    }

    private static void window(JsonWriter json, Phone.Window window, NodeWriter nodes) throws IOException {
        json.object().field("id", window.id).field("type", window.type).field("layer", window.layer);
        json.array("bounds").value(window.bounds.left).value(window.bounds.top).value(window.bounds.right)
                .value(window.bounds.bottom).endArray();
        json.unlessEmpty("title", window.title).ifTrue("focused", window.focused)
                .ifTrue("active", window.active).ifTrue("pictureInPicture", window.pictureInPicture);
        if (window.root != null) {
            json.name("root");
            nodes.write(window.root, false);
        }
        json.endObject();
    }

    /** Adds `rest` and, unless `"look": false`, the look. */
    private void rest(JsonWriter json, Map<?, ?> wish, long before) throws Exception {
        long quietMs = wish.get("quietMs") == null ? Protocol.QUIET_MS : (long) number(wish, "quietMs");
        long timeoutMs = wish.get("timeoutMs") == null ? Protocol.REST_TIMEOUT_MS
                : (long) number(wish, "timeoutMs");
        long began = phone.uptimeMs();
        boolean idle = quiet(began, began + timeoutMs, quietMs);
        json.object("rest").field("idle", idle).field("waitedMs", phone.uptimeMs() - began);
        json.array("events");
        for (EventLog.Entry entry : events.since(before)) {
            entry.write(json);
        }
        json.endArray().endObject();
        if (Boolean.FALSE.equals(wish.get("look"))) {
            return;
        }
        List<Phone.Window> windows = phone.windows();
        if (isEmpty(windows)) {
            json.field("lookCode", Protocol.NO_ACTIVE_WINDOW); // no refusal: what was asked for is done
        } else {
            look(json, windows);
        }
    }

    private List<Phone.Window> awaitWindows() throws InterruptedException {
        long end = phone.uptimeMs() + Protocol.WINDOW_WAIT_MS;
        List<Phone.Window> windows = phone.windows();
        while (isEmpty(windows) && phone.uptimeMs() < end) {
            phone.sleepMs(WINDOW_POLL_MS);
            windows = phone.windows();
        }
        return windows;
    }

    private static boolean isEmpty(List<Phone.Window> windows) {
        for (Phone.Window window : windows) {
            if (window.root != null) {
                return false;
            }
        }
        return true;
    }

    /** Until nothing changed the picture for `quietMs` and no window moved meanwhile. */
    private boolean quiet(long began, long end, long quietMs) throws InterruptedException {
        List<String> places = places();
        while (true) {
            long now = phone.uptimeMs();
            long since = now - Math.max(began, events.pictureMs());
            if (since >= quietMs) {
                List<String> later = places();
                if (later.equals(places)) {
                    return true;
                }
                places = later;
                began = now; // a window animates without events
                since = 0;
            }
            if (now >= end) {
                return false;
            }
            phone.sleepMs(Math.max(1, Math.min(quietMs - Math.min(since, quietMs - 1), end - now)));
        }
    }

    private List<String> places() {
        List<String> places = new ArrayList<String>();
        for (Phone.Window window : phone.frames()) {
            places.add(window.id + " " + window.layer + " " + window.bounds.flattenToString());
        }
        return places;
    }

    private void waitIdle(JsonWriter json, long timeoutMs, String packageName) throws Exception {
        long before = events.last();
        long began = phone.uptimeMs();
        boolean idle = quiet(began, began + timeoutMs, Protocol.QUIET_MS);
        Set<String> names = new LinkedHashSet<String>();
        for (EventLog.Entry entry : events.since(before)) {
            boolean wanted = packageName == null || packageName.equals(entry.packageName);
            if (wanted && EventLog.changesPicture(entry) && names.size() < MAX_EVENT_NAMES) {
                names.add(entry.name());
            }
        }
        json.object().field("ok", true).field("idle", idle).field("reason", idle ? "events_quiet" : "timeout");
        json.array("events");
        for (String name : names) {
            json.value(name);
        }
        json.endArray().endObject();
    }

    /** With `waitMs` one list; else a line per event, and an empty line each second, until the peer leaves. */
    private void stream(Http.Request request, Http.Answer answer) throws Exception {
        long number = number(request.query, "since", (int) events.last());
        JsonWriter json = new JsonWriter(answer);
        if (request.query.containsKey("waitMs")) {
            events.await(number, number(request.query, "waitMs", 0));
            json.object().field("ok", true).array("events");
            for (EventLog.Entry entry : events.since(number)) {
                entry.write(json);
                number = entry.number;
            }
            json.endArray().field("next", number).endObject().flush();
            return;
        }
        answer.head(200, "application/x-ndjson");
        while (true) {
            for (EventLog.Entry entry : events.since(number)) {
                entry.write(json);
                json.newline();
                number = entry.number;
            }
            json.newline().flush();
            events.await(number, HEARTBEAT_MS);
        }
    }

    private void screenshot(Map<String, String> query, JsonWriter json, Http.Answer answer) throws Exception {
        Bitmap picture = phone.screenshot();
        if (picture == null) {
            throw new Refusal(Protocol.NO_SCREENSHOT, "the platform took no picture");
        }
        double scale = query.containsKey("scale") ? decimal(query.get("scale")) : 1;
        if (scale > 0 && scale < 1) {
            picture = Bitmap.createScaledBitmap(picture, Math.max(1, (int) (picture.getWidth() * scale)),
                    Math.max(1, (int) (picture.getHeight() * scale)), true);
        }
        String format = query.containsKey("format") ? query.get("format") : "png";
        int quality = (int) number(query, "quality", DEFAULT_QUALITY);
        if ("1".equals(query.get("raw"))) {
            answer.head(200, "image/" + format);
            compress(picture, format, quality, answer);
            return;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        compress(picture, format, quality, bytes);
        json.object().field("ok", true).field("format", format)
                .field("base64", Base64.encodeToString(bytes.toByteArray(), Base64.NO_WRAP)).endObject();
    }

    @SuppressWarnings("deprecation")
    private static void compress(Bitmap picture, String format, int quality, OutputStream out) throws Refusal {
        Bitmap.CompressFormat codec;
        switch (format) {
            case "png":
                codec = Bitmap.CompressFormat.PNG;
                break;
            case "jpeg":
                codec = Bitmap.CompressFormat.JPEG;
                break;
            case "webp":
                codec = Bitmap.CompressFormat.WEBP;
                break;
            default:
                throw bad("format is png, jpeg or webp");
        }
        if (!picture.compress(codec, Math.max(0, Math.min(100, quality)), out)) {
            throw new Refusal(Protocol.NO_SCREENSHOT, "the picture could not be compressed");
        }
    }

    /** What an app is made with, by the files in its APKs. Names and order are the seed's. */
    private void framework(JsonWriter json, String asked) throws Exception {
        String packageName = asked;
        if (packageName == null) {
            String top = phone.top();
            packageName = top == null ? "" : top.substring(0, top.indexOf('/'));
        }
        Set<String> frameworks = new LinkedHashSet<String>();
        Set<String> signals = new LinkedHashSet<String>();
        for (String path : phone.packageFiles(packageName)) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            String framework = frameworkOf(name);
            if (framework != null) {
                frameworks.add(framework);
                signals.add((name.endsWith(".so") ? "lib:" : "file:") + name);
            }
        }
        String primary = "native";
        for (String each : new String[] {"compose", "react_native", "flutter"}) {
            primary = frameworks.contains(each) ? each : primary;
        }
        if (frameworks.contains("react_native_hermes") && primary.equals("native")) {
            primary = "react_native";
            frameworks.add(primary);
        }
        frameworks.add(primary);
        json.object().field("ok", true).field("packageName", packageName).field("primary", primary);
        write(json, "frameworks", frameworks);
        write(json, "signals", signals);
        json.endObject();
    }

    private static String frameworkOf(String file) {
        switch (file) {
            case "libflutter.so":
                return "flutter";
            case "libreactnativejni.so":
            case "libreactnative.so":
                return "react_native";
            case "libhermes.so":
                return "react_native_hermes";
            case "androidx.compose.ui_ui.version":
                return "compose";
            default:
                return null;
        }
    }

    private static void write(JsonWriter json, String name, Set<String> texts) throws IOException {
        json.array(name);
        for (String text : texts) {
            json.value(text);
        }
        json.endArray();
    }

    private static Map<?, ?> body(Http.Request request) throws Refusal {
        if (request.body.length == 0) {
            return new LinkedHashMap<String, Object>();
        }
        try {
            Object body = JsonReader.read(new String(request.body, Http.UTF_8));
            if (body instanceof Map) {
                return (Map<?, ?>) body;
            }
        } catch (IllegalArgumentException error) {
            throw bad(error.getMessage());
        }
        throw bad("the body is not a JSON object");
    }

    private static double number(Map<?, ?> body, String name) throws Refusal {
        Object number = body.get(name);
        if (!(number instanceof Double)) {
            throw bad("No value for " + name);
        }
        return (Double) number;
    }

    private static float pixel(Map<?, ?> body, String name) throws Refusal {
        return (float) number(body, name);
    }

    private static long duration(Map<?, ?> body, long otherwise) throws Refusal {
        long ms = body.get("durationMs") == null ? otherwise : (long) number(body, "durationMs");
        if (ms < 0 || ms > Protocol.MAX_GESTURE_MS) {
            throw bad("durationMs is between 0 and " + Protocol.MAX_GESTURE_MS);
        }
        return ms;
    }

    private static String string(Map<?, ?> body, String name) throws Refusal {
        if (!(body.get(name) instanceof String)) {
            throw bad("No value for " + name);
        }
        return (String) body.get(name);
    }

    private static long number(Map<String, String> query, String name, int otherwise) throws Refusal {
        return query.containsKey(name) ? (long) decimal(query.get(name)) : otherwise;
    }

    private static double decimal(String text) throws Refusal {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException error) {
            throw bad("not a number: " + text);
        }
    }

    private static Refusal bad(String words) {
        return new Refusal(Protocol.BAD_REQUEST, words, 400, false);
    }

    private static Refusal notFound(Http.Request request) {
        String words = "No route for " + request.method + " " + request.path;
        return new Refusal(Protocol.NOT_FOUND, words, 404, false);
    }
}
