package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.widget.FrameLayout;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** Every operation over a real socket, on a phone of views in virtual time. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = Config.ALL_SDKS)
public class OperationsTest {
    private final EventLog events = new EventLog();
    private ViewPhone phone;
    private Server server;
    private SocketSeam.Client client;

    @Before
    public void start() throws Exception {
        Activity activity = ViewPhone.activity();
        FrameLayout parent = new FrameLayout(activity);
        TextView text = new TextView(activity);
        text.setText("Hello");
        parent.addView(text);
        phone = ViewPhone.showing(activity, parent);
        SocketSeam seam = new SocketSeam();
        server = new Server(seam, SocketSeam.TOKEN, new Operations(phone, events,
                KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD), () -> server.stop()));
        server.start();
        client = seam.client();
    }

    @After
    public void stop() throws Exception {
        client.close();
        server.stop();
        server.awaitEnd(600_000, 600_000, 600_000);
    }

    private void happens(int type, String className, String text) {
        AccessibilityEvent event = AccessibilityEvent.obtain(type);
        event.setClassName(className);
        event.setPackageName("com.example");
        event.getText().add(text);
        events.add(event, phone.uptimeMs);
    }

    @Test
    public void statusSaysWhatTheSeedReads() throws Exception {
        Map<?, ?> status = client.get(Protocol.STATUS);
        assertEquals("[ok, name, version, protocolVersion, sdkInt, device, manufacturer]",
                status.keySet().toString());
        assertEquals(true, status.get("ok"));
        assertEquals(1.0, status.get("protocolVersion"));
        assertEquals((double) phone.sdk(), status.get("sdkInt"));
    }

    @Test
    public void aLookIsOneAnswerWithDisplayWindowsAndNodes() throws Exception {
        Map<?, ?> look = client.get(Protocol.LOOK);
        assertEquals(1080.0, ((Map<?, ?>) look.get("display")).get("width"));
        assertEquals("com.example/com.example.Main", look.get("top"));
        Map<?, ?> window = (Map<?, ?>) ((List<?>) look.get("windows")).get(0);
        assertEquals(Arrays.asList(7.0, 1.0, 3.0, "title", true, true), Arrays.asList(window.get("id"),
                window.get("type"), window.get("layer"), window.get("title"), window.get("focused"),
                window.get("active")));
        assertTrue(window.get("root").toString().contains("text=Hello"));
        assertTrue(((Double) look.get("nodes")) >= 3);
        assertEquals(null, look.get("cycles"));
    }

    @Test
    public void windowsComeWithTheirLayersAndWithoutNodesWhereTheyShowNone() throws Exception {
        Phone.Window above = new Phone.Window();
        above.id = 9;
        above.layer = 5;
        above.bounds = new Rect(0, 0, 1080, 60);
        phone.windows.add(0, above);
        List<?> windows = (List<?>) client.get(Protocol.LOOK).get("windows");
        assertEquals(Arrays.asList(0.0, 0.0, 1080.0, 60.0), ((Map<?, ?>) windows.get(0)).get("bounds"));
        assertFalse(((Map<?, ?>) windows.get(0)).containsKey("root"));
        assertTrue(((Map<?, ?>) windows.get(1)).containsKey("root"));
    }

    @Test
    public void theTreeHasTheSeedsShape() throws Exception {
        Map<?, ?> answer = client.get(Protocol.TREE);
        Map<?, ?> tree = (Map<?, ?>) answer.get("tree");
        assertEquals(false, answer.get("compact"));
        assertEquals(1080.0, ((Map<?, ?>) tree.get("bounds")).get("right"));
        for (String key : new String[] {"index", "className", "packageName", "resourceId", "text", "enabled",
            "contentDescription", "hintText", "stateDescription", "paneTitle", "tooltipText", "password"}) {
            assertTrue(key, tree.containsKey(key));
        }
    }

    @Test
    public void withoutAnyRootThereIsNoActiveWindow() throws Exception {
        phone.windows.clear();
        assertEquals(Protocol.NO_ACTIVE_WINDOW, client.get(Protocol.TREE).get("code"));
        assertEquals(Protocol.NO_ACTIVE_WINDOW, client.get(Protocol.LOOK).get("code"));
        assertEquals(200, client.status);
    }

    @Test
    public void aLookWaitsForTheWindowOfTheNextScreenAndNotForever() throws Exception {
        Phone.Window next = phone.windows.remove(0);
        long began = phone.uptimeMs;
        phone.whileSleeping = () -> {
            if (phone.uptimeMs >= began + 700 && phone.windows.isEmpty()) {
                phone.windows.add(next);
            }
        };
        assertEquals(true, client.get(Protocol.LOOK).get("ok"));
        assertEquals(began + 700, phone.uptimeMs);
        phone.whileSleeping = null;
        phone.windows.clear();
        client.get(Protocol.LOOK);
        assertEquals(began + 700 + Protocol.WINDOW_WAIT_MS, phone.uptimeMs);
    }

    @Test
    public void theSeedsTouchesAreGestures() throws Exception {
        assertEquals(2.0, client.post(Protocol.TAP, "{\"x\":1,\"y\":2}").get("events"));
        assertEquals(2.0, client.post(Protocol.TAP_COORDINATES, "{\"x\":1,\"y\":2}").get("events"));
        assertEquals(2.0, client.post(Protocol.LONG_PRESS, "{\"x\":1,\"y\":2,\"durationMs\":700}").get("events"));
        assertEquals(20.0, client.post(Protocol.SWIPE, "{\"x1\":1,\"y1\":2,\"x2\":90,\"y2\":2}").get("events"));
        assertEquals(26, phone.injected.size());
    }

    @Test
    public void keysGoDownAndUp() throws Exception {
        assertEquals(true, client.post(Protocol.KEY, "{\"keycode\":4,\"metaState\":1}").get("ok"));
        assertEquals(2, phone.injected.size());
        KeyEvent up = (KeyEvent) phone.injected.get(1);
        assertEquals(Arrays.asList(KeyEvent.ACTION_UP, 4, 1), Arrays.asList(up.getAction(), up.getKeyCode(),
                up.getMetaState()));
    }

    @Test
    public void oneRoundTripGoesFromATapToItsProof() throws Exception {
        phone.whileSleeping = () -> {
            if (phone.uptimeMs < 1400) {
                happens(AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED, "android.widget.TextView", "");
            }
        };
        Map<?, ?> answer = client.post(Protocol.TAP, "{\"x\":1,\"y\":2,\"rest\":{\"quietMs\":100}}");
        Map<?, ?> rest = (Map<?, ?>) answer.get("rest");
        assertEquals(true, rest.get("idle"));
        assertEquals(400.0, rest.get("waitedMs"));
        assertEquals(3, ((List<?>) rest.get("events")).size());
        assertEquals(1, ((List<?>) answer.get("windows")).size());
        assertEquals(2.0, answer.get("events"));
    }

    @Test
    public void aScreenThatNeverRestsIsSaidAfterTheTimeout() throws Exception {
        phone.whileSleeping = () -> happens(AccessibilityEvent.TYPE_VIEW_SCROLLED, "x", "");
        Map<?, ?> answer = client.post(Protocol.REST, "{\"quietMs\":100,\"timeoutMs\":1000,\"look\":false}");
        assertEquals(false, ((Map<?, ?>) answer.get("rest")).get("idle"));
        assertEquals(1000.0, ((Map<?, ?>) answer.get("rest")).get("waitedMs"));
        assertFalse(answer.containsKey("windows"));
    }

    @Test
    public void aWindowThatMovesWithoutEventsIsWaitedFor() throws Exception {
        phone.whileSleeping = () -> {
            if (phone.uptimeMs < 1350) {
                phone.windows.get(0).bounds.offset(0, 1);
            }
        };
        Map<?, ?> rest = (Map<?, ?>) client.post(Protocol.REST, "{\"quietMs\":100}").get("rest");
        assertEquals(true, rest.get("idle"));
        assertEquals(400.0, rest.get("waitedMs"));
    }

    @Test
    public void anInputWhoseScreenIsGoneIsStillDone() throws Exception {
        phone.windows.clear();
        Map<?, ?> answer = client.post(Protocol.TAP, "{\"x\":1,\"y\":2,\"rest\":{}}");
        assertEquals(true, answer.get("ok"));
        assertEquals(Protocol.NO_ACTIVE_WINDOW, answer.get("lookCode"));
    }

    @Test
    public void waitIdleNamesTheEventsOfThePackage() throws Exception {
        phone.whileSleeping = () -> {
            if (phone.uptimeMs < 1200) {
                happens(AccessibilityEvent.TYPE_WINDOW_STATE_CHANGED, "x", "");
            }
        };
        Map<?, ?> idle = client.get(Protocol.WAIT_IDLE + "?timeoutMs=5000&package=com.example");
        assertEquals("events_quiet", idle.get("reason"));
        assertEquals(Arrays.asList("TYPE_WINDOW_STATE_CHANGED"), idle.get("events"));
        phone.uptimeMs = 1000;
        assertEquals(new ArrayList<>(), client.get(Protocol.WAIT_IDLE + "?package=other").get("events"));
    }

    @Test
    public void toastsAndNotificationsAreEventsWithTheirTexts() throws Exception {
        happens(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "android.widget.Toast$TN", "Saved");
        happens(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "android.app.Notification", "Mail");
        AccessibilityEvent secret = AccessibilityEvent.obtain(AccessibilityEvent.TYPE_VIEW_TEXT_CHANGED);
        secret.setPassword(true);
        secret.getText().add("hunter2");
        events.add(secret, phone.uptimeMs);
        Map<?, ?> answer = client.get(Protocol.EVENTS + "?since=0&waitMs=0");
        List<?> list = (List<?>) answer.get("events");
        assertEquals(3.0, answer.get("next"));
        assertEquals(true, ((Map<?, ?>) list.get(0)).get("toast"));
        assertEquals(Arrays.asList("Saved"), ((Map<?, ?>) list.get(0)).get("texts"));
        assertEquals(null, ((Map<?, ?>) list.get(1)).get("toast"));
        assertEquals(Arrays.asList(Protocol.MASK), ((Map<?, ?>) list.get(2)).get("texts"));
    }

    @Test
    public void eventsAreStreamedLineByLine() throws Exception {
        client.send(SocketSeam.Client.request("GET", Protocol.EVENTS + "?since=0", ""));
        for (String line = client.line(); !line.isEmpty(); line = client.line()) {
            assertFalse(line, line.contains("500"));
        }
        happens(AccessibilityEvent.TYPE_VIEW_CLICKED, "x", "streamed");
        String chunk = "";
        while (chunk.trim().isEmpty()) {
            chunk = new String(client.chunk(), Http.UTF_8);
        }
        assertTrue(chunk, chunk.contains("streamed"));
    }

    @Test
    public void aLookHasTheToastsOfTheLastMoment() throws Exception {
        happens(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "android.widget.Toast$TN", "Saved");
        happens(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "android.app.Notification", "");
        happens(AccessibilityEvent.TYPE_VIEW_CLICKED, "android.widget.Button", "OK");
        List<?> toasts = (List<?>) client.get(Protocol.LOOK).get("toasts");
        assertEquals(1, toasts.size());
        assertEquals("Saved", ((Map<?, ?>) toasts.get(0)).get("text"));
        phone.uptimeMs += Protocol.MESSAGE_MS + 1;
        assertEquals(Collections.emptyList(), client.get(Protocol.LOOK).get("toasts"));
    }

    @Test
    public void onlyTheLastEventsAreKept() throws Exception {
        for (int i = 0; i < EventLog.KEPT + 10; i++) {
            happens(AccessibilityEvent.TYPE_VIEW_CLICKED, "x", "");
        }
        List<?> list = (List<?>) client.get(Protocol.EVENTS + "?since=0&waitMs=0").get("events");
        assertEquals(EventLog.KEPT, list.size());
        assertEquals(11.0, ((Map<?, ?>) list.get(0)).get("number"));
    }

    @Test
    public void picturesComeInEveryFormatAndSize() throws Exception {
        assertEquals(Protocol.NO_SCREENSHOT, client.get(Protocol.SCREENSHOT).get("code"));
        phone.picture = Bitmap.createBitmap(40, 20, Bitmap.Config.ARGB_8888);
        assertEquals("png", client.get(Protocol.SCREENSHOT).get("format"));
        assertEquals(true, client.get(Protocol.SCREENSHOT + "?format=jpeg&scale=0.5&quality=50").get("ok"));
        assertEquals(Protocol.BAD_REQUEST, client.get(Protocol.SCREENSHOT + "?format=gif").get("code"));
        client.send(SocketSeam.Client.request("GET", Protocol.SCREENSHOT + "?raw=1", ""));
        client.answer();
        assertTrue(client.head, client.head.contains("image/png"));
    }

    @Test
    public void theClipboardIsReadAndSet() throws Exception {
        assertEquals("kept", client.get(Protocol.CLIPBOARD).get("text"));
        client.post(Protocol.CLIPBOARD, "{\"text\":\"\u00e4\"}");
        assertEquals("\u00e4", phone.clipboard);
    }

    @Test
    public void globalActionsRotationAndTop() throws Exception {
        for (String action : new String[] {"back", "home", "recents", "notifications", "quick_settings"}) {
            assertEquals(true, client.post(Protocol.GLOBAL, "{\"action\":\"" + action + "\"}").get("ok"));
        }
        assertEquals(Arrays.asList(1, 2, 3, 4, 5), phone.globals);
        assertEquals(Protocol.BAD_REQUEST, client.post(Protocol.GLOBAL, "{\"action\":\"x\"}").get("code"));
        assertEquals(0.0, client.get(Protocol.ROTATION).get("rotation"));
        assertEquals(true, client.post(Protocol.ROTATION, "{\"rotation\":1}").get("ok"));
        assertEquals(Protocol.REFUSED, client.post(Protocol.ROTATION, "{\"rotation\":9}").get("code"));
        assertEquals("com.example/com.example.Main", client.get(Protocol.TOP).get("activity"));
    }

    @Test
    public void frameworksAreToldByFiles() throws Exception {
        assertEquals("native", client.get(Protocol.FRAMEWORK).get("primary"));
        phone.files.add("META-INF/androidx.compose.ui_ui.version");
        assertEquals("compose", client.get(Protocol.FRAMEWORK).get("primary"));
        phone.files.add("lib/arm64-v8a/libhermes.so");
        phone.files.add("lib/arm64-v8a/libreactnativejni.so");
        Map<?, ?> answer = client.get(Protocol.FRAMEWORK + "?package=com.other");
        assertEquals("react_native", answer.get("primary"));
        assertEquals("com.other", answer.get("packageName"));
        assertTrue(answer.get("signals").toString(), answer.get("signals").toString().contains("lib:libhermes.so"));
        assertTrue(answer.get("frameworks").toString().contains("react_native_hermes"));
    }

    @Test
    public void whatIsAskedWronglyIsRefusedBeforeItIsDone() throws Exception {
        assertEquals(Protocol.NOT_FOUND, client.get("/nothing").get("code"));
        assertEquals(404, client.status);
        assertEquals(Protocol.NOT_FOUND, client.post(Protocol.LOOK, "{}").get("code"));
        for (String body : new String[] {"{\"x\":1}", "[]", "{", "{\"x\":\"1\",\"y\":2}"}) {
            Map<?, ?> answer = client.post(Protocol.TAP, body);
            assertEquals(body, Protocol.BAD_REQUEST, answer.get("code"));
            assertEquals(false, answer.get("delivered"));
        }
        assertEquals(Protocol.BAD_REQUEST,
                client.post(Protocol.LONG_PRESS, "{\"x\":1,\"y\":1,\"durationMs\":1e9}").get("code"));
        assertTrue(phone.injected.isEmpty());
    }

    @Test
    public void shutdownAnswersAndEnds() throws Exception {
        assertEquals(true, client.post(Protocol.SHUTDOWN, "{}").get("ok"));
        assertEquals("stopped", server.awaitEnd(600_000, 600_000, 600_000));
    }

    /** A field as a service gets it; without a service behind it every action on it fails. */
    private void focus(String text, boolean password) {
        phone.focused = AccessibilityNodeInfo.obtain();
        phone.focused.setPassword(password);
        phone.focused.setText(text);
        phone.focused.setEditable(true);
        phone.focused.setTextSelection(text.length(), text.length());
        phone.focused.setSealed(true);
    }

    @Test
    public void textNeedsAFocusedField() throws Exception {
        Map<?, ?> answer = client.post(Protocol.TEXT, "{\"text\":\"\u00e4\",\"way\":\"set\"}");
        assertEquals(Protocol.NO_FOCUSED_FIELD, answer.get("code"));
        assertEquals(false, answer.get("delivered"));
    }

    @Test
    public void asciiIsTypedByKeysAndReadBack() throws Exception {
        focus("Ab", false);
        Map<?, ?> answer = client.post(Protocol.TEXT, "{\"text\":\"Ab\"}");
        assertEquals("keys", answer.get("way"));
        assertEquals("Ab", answer.get("readBack"));
        assertTrue(phone.injected.size() >= 4);
    }

    @Test
    public void aPasswordIsNotReadBack() throws Exception {
        focus("hunter2", true);
        Map<?, ?> answer = client.post(Protocol.TEXT, "{\"text\":\"hunter2\"}");
        assertEquals(Protocol.MASK, answer.get("readBack"));
        assertEquals(true, answer.get("password"));
    }

    @Test
    public void aFieldThatRefusesEverythingKeepsTheClipboard() throws Exception {
        focus("x", false);
        TextEntry withoutKeys = new TextEntry(phone, null);
        Refusal refusal = assertThrows(Refusal.class, () -> withoutKeys.replace("\u4e2d"));
        assertEquals(Protocol.REFUSED, refusal.code);
        assertEquals("kept", phone.clipboard);
    }

    @Test
    public void aFieldThatRefusesTextGetsKeys() throws Exception {
        focus("new", false);
        Map<?, ?> answer = client.post(Protocol.TEXT, "{\"text\":\"new\",\"way\":\"set\"}");
        assertEquals("keys", answer.get("way"));
        assertEquals("new", answer.get("readBack"));
    }
}
