package dev.handrail.helper;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Build;
import android.view.InputEvent;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityNodeProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.robolectric.Robolectric;

/** A phone whose nodes come from views by the framework's own code, in virtual time. */
class ViewPhone implements Phone {
    final List<Window> windows = new ArrayList<>();
    final List<InputEvent> injected = new ArrayList<>();
    final List<Long> injectedAt = new ArrayList<>();
    final List<Boolean> waited = new ArrayList<>();
    final List<Integer> globals = new ArrayList<>();
    final List<String> files = new ArrayList<>();
    /** Children by node where no views stand behind them. */
    final Map<AccessibilityNodeInfo, List<AccessibilityNodeInfo>> children = new HashMap<>();
    int refusesFrom = Integer.MAX_VALUE;
    long refusesAfterMs;
    String forbids;
    long uptimeMs = 1000;
    String clipboard = "kept";
    String top = "com.example/com.example.Main";
    Bitmap picture;
    AccessibilityNodeInfo focused;
    Runnable whileSleeping;
    float rate = 60;
    private View root;

    static Activity activity() {
        Activity activity = Robolectric.buildActivity(Activity.class).setup().get();
        activity.setTheme(android.R.style.Theme_Material);
        return activity;
    }

    /** Shows the view in an activity's window, laid out on 1,080 × 1,920 pixels. */
    static ViewPhone showing(Activity activity, View content) {
        activity.setContentView(content);
        View decor = activity.getWindow().getDecorView();
        decor.measure(View.MeasureSpec.makeMeasureSpec(1080, View.MeasureSpec.EXACTLY),
                View.MeasureSpec.makeMeasureSpec(1920, View.MeasureSpec.EXACTLY));
        decor.layout(0, 0, 1080, 1920);
        askForEverything(decor);
        ViewPhone phone = new ViewPhone();
        phone.root = decor;
        Window window = new Window();
        window.id = 7;
        window.type = 1;
        window.layer = 3;
        window.active = true;
        window.focused = true;
        window.title = "title";
        window.bounds = new Rect(0, 0, 1080, 1920);
        window.root = decor.createAccessibilityNodeInfo();
        phone.windows.add(window);
        return phone;
    }

    /** What FLAG_INCLUDE_NOT_IMPORTANT_VIEWS and FLAG_REPORT_VIEW_IDS of a service set in a window. */
    private static void askForEverything(View view) {
        try {
            Field attached = View.class.getDeclaredField("mAttachInfo");
            attached.setAccessible(true);
            Object info = attached.get(view);
            Field flags = info.getClass().getDeclaredField("mAccessibilityFetchFlags");
            flags.setAccessible(true);
            flags.setInt(info, flag("FLAG_INCLUDE_NOT_IMPORTANT_VIEWS",
                    "FLAG_SERVICE_REQUESTS_INCLUDE_NOT_IMPORTANT_VIEWS")
                    | flag("FLAG_REPORT_VIEW_IDS", "FLAG_SERVICE_REQUESTS_REPORT_VIEW_IDS"));
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static int flag(String... names) throws ReflectiveOperationException {
        for (String name : names) {
            try {
                return AccessibilityNodeInfo.class.getField(name).getInt(null);
            } catch (NoSuchFieldException renamed) {
                continue;
            }
        }
        throw new NoSuchFieldException(names[0]);
    }

    AccessibilityNodeInfo node(View view) {
        return view.createAccessibilityNodeInfo();
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        if (children.containsKey(node)) {
            return children.get(node).get(index);
        }
        if (root == null) {
            return null;
        }
        long id = node.getChildId(index);
        View view = find(root, (int) id);
        if (view == null) {
            return null;
        }
        int virtual = (int) (id >> 32);
        AccessibilityNodeProvider provider = view.getAccessibilityNodeProvider();
        return provider == null ? view.createAccessibilityNodeInfo()
                : provider.createAccessibilityNodeInfo(virtual);
    }

    static View find(View view, int accessibilityId) {
        if (view.getAccessibilityViewId() == accessibilityId) {
            return view;
        }
        for (int i = 0; view instanceof ViewGroup && i < ((ViewGroup) view).getChildCount(); i++) {
            View below = find(((ViewGroup) view).getChildAt(i), accessibilityId);
            if (below != null) {
                return below;
            }
        }
        return null;
    }

    /** Adds a window around a node that no view stands behind. */
    ViewPhone with(AccessibilityNodeInfo node) {
        Window window = new Window();
        window.root = node;
        window.active = true;
        windows.add(window);
        return this;
    }

    /** The tree of the first window as the helper writes it, read again. */
    Map<?, ?> read() throws IOException {
        return (Map<?, ?>) JsonReader.read(write());
    }

    String write() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        JsonWriter json = new JsonWriter(bytes);
        NodeWriter writer = new NodeWriter(json, this);
        writer.write(windows.get(0).root, false);
        json.flush();
        return bytes.toString("UTF-8");
    }

    @Override
    public int sdk() {
        return Build.VERSION.SDK_INT;
    }

    @Override
    public String model() {
        return "Model";
    }

    @Override
    public String manufacturer() {
        return "Maker";
    }

    @Override
    public Display display() {
        return new Display(1080, 1920, 0, 420, rate);
    }

    @Override
    public List<Window> windows() {
        return Collections.unmodifiableList(windows);
    }

    @Override
    public List<Window> frames() {
        return windows();
    }

    @Override
    public AccessibilityNodeInfo focusedField() {
        return focused;
    }

    @Override
    public boolean inject(InputEvent event, boolean wait) {
        if (injected.size() >= refusesFrom
                && !(event instanceof MotionEvent && ((MotionEvent) event).getAction() == MotionEvent.ACTION_CANCEL)) {
            uptimeMs += refusesAfterMs;
            if (forbids != null) {
                throw new SecurityException(forbids);
            }
            return false;
        }
        injected.add(event);
        injectedAt.add(uptimeMs);
        waited.add(wait);
        return true;
    }

    @Override
    public Bitmap screenshot() {
        return picture;
    }

    @Override
    public boolean global(int action) {
        return globals.add(action);
    }

    @Override
    public boolean rotate(int rotation) {
        return rotation >= -2 && rotation <= 3;
    }

    @Override
    public String clipboard() {
        return clipboard;
    }

    @Override
    public void setClipboard(String text) {
        clipboard = text;
    }

    @Override
    public String top() {
        return top;
    }

    @Override
    public List<String> packageFiles(String packageName) {
        return files;
    }

    @Override
    public long uptimeMs() {
        return uptimeMs;
    }

    @Override
    public void sleepMs(long ms) {
        uptimeMs += ms;
        if (whileSleeping != null) {
            whileSleeping.run();
        }
    }
}
