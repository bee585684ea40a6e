package dev.handrail.helper;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.content.ClipData;
import android.content.ComponentName;
import android.graphics.Bitmap;
import android.os.Build;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.SystemClock;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The phone that this process runs on, through the platform's UiAutomation and its services. */
final class AndroidPhone implements Phone {
    /** UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES, API 24: TalkBack and the like stay on. */
    private static final int KEEP_OTHER_SERVICES = 1;
    private static final int DEFAULT_RATE = 60;
    private static final int SETTLED_MS = 1000;
    private static final int SETTLED_TIMEOUT_MS = 5000;

    private final UiAutomation automation;
    private final HandlerThread thread = new HandlerThread("uiautomation");
    private final EventLog events;

    /** Connects as the platform's own `uiautomator` does. Throws if another program holds UiAutomation. */
    AndroidPhone(EventLog events) throws ReflectiveOperationException {
        this.events = events;
        thread.start();
        Class<?> connection = Hidden.type("android.app.UiAutomationConnection");
        Constructor<?> maker = connection.getDeclaredConstructor();
        maker.setAccessible(true);
        Constructor<?> automationMaker = UiAutomation.class.getDeclaredConstructor(Looper.class,
                Hidden.type("android.app.IUiAutomationConnection"));
        automationMaker.setAccessible(true);
        automation = (UiAutomation) automationMaker.newInstance(thread.getLooper(), maker.newInstance());
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.N) {
            Hidden.call(UiAutomation.class, automation, "connect", new Class<?>[] {int.class},
                    KEEP_OTHER_SERVICES);
        } else {
            Hidden.call(UiAutomation.class, automation, "connect");
        }
        automation.setOnAccessibilityEventListener(new UiAutomation.OnAccessibilityEventListener() {
            @Override
            public void onAccessibilityEvent(AccessibilityEvent event) {
                AndroidPhone.this.events.add(event, SystemClock.uptimeMillis());
            }
        });
        configure();
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.LOLLIPOP) {
            awaitActiveWindow();
        }
    }

    /**
     * Below API 21 the platform knows the active window from the events that apps send once somebody listens;
     * until then it hands out the one before, or none. Its own `uiautomator` waits in the same way.
     */
    private void awaitActiveWindow() {
        try {
            automation.waitForIdle(SETTLED_MS, SETTLED_TIMEOUT_MS);
        } catch (TimeoutException restless) {
            // something moves all the time, so the event came long ago
        }
    }

    /** Every view, ids and windows. Setting it also empties the platform's cache of nodes. */
    private void configure() {
        AccessibilityServiceInfo info = automation.getServiceInfo();
        if (info == null) {
            throw new UnsupportedOperationException("UiAutomation tells no service");
        }
        info.eventTypes = AccessibilityEvent.TYPES_ALL_MASK;
        info.notificationTimeout = 0;
        info.flags |= AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS
                | AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS;
        if (sdk() >= Build.VERSION_CODES.LOLLIPOP) {
            info.flags |= AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS;
        }
        automation.setServiceInfo(info);
    }

    /** Empties this process' cache, so that nodes and windows are read anew. */
    private void forget() {
        if (sdk() >= Build.VERSION_CODES.UPSIDE_DOWN_CAKE) {
            Api34.forget(automation);
            return;
        }
        try {
            Class<?> client = Hidden.type("android.view.accessibility.AccessibilityInteractionClient");
            Hidden.call(client, Hidden.call(client, null, "getInstance"), "clearCache");
        } catch (UnsupportedOperationException differs) { // API 33
            configure();
        }
    }

    void disconnect() {
        try {
            Hidden.call(UiAutomation.class, automation, "disconnect");
        } catch (RuntimeException gone) {
            // the platform let go first
        }
        thread.quit();
    }

    @Override
    public int sdk() {
        return Build.VERSION.SDK_INT;
    }

    @Override
    public String model() {
        return Build.MODEL;
    }

    @Override
    public String manufacturer() {
        return Build.MANUFACTURER;
    }

    @Override
    public Display display() {
        Class<?> global = Hidden.type("android.hardware.display.DisplayManagerGlobal");
        Object info = Hidden.call(global, Hidden.call(global, null, "getInstance"), "getDisplayInfo",
                new Class<?>[] {int.class}, 0);
        return new Display((Integer) Hidden.field(info, "logicalWidth"),
                (Integer) Hidden.field(info, "logicalHeight"), (Integer) Hidden.field(info, "rotation"),
                (Integer) Hidden.field(info, "logicalDensityDpi"), rate(info));
    }

    private static float rate(Object info) {
        try {
            if (Build.VERSION.SDK_INT < Build.VERSION_CODES.M) {
                return (Float) Hidden.field(info, "refreshRate");
            }
            Object of = Build.VERSION.SDK_INT < Build.VERSION_CODES.S ? Hidden.call(info.getClass(), info, "getMode") : info;
            return (Float) Hidden.call(of.getClass(), of, "getRefreshRate");
        } catch (RuntimeException differs) {
            return DEFAULT_RATE;
        }
    }

    @Override
    public List<Window> windows() {
        forget();
        if (sdk() >= Build.VERSION_CODES.LOLLIPOP) {
            List<Window> windows = Api21.windows(automation, true);
            if (!windows.isEmpty()) {
                return windows;
            }
        }
        AccessibilityNodeInfo root = automation.getRootInActiveWindow();
        if (root == null) {
            return Collections.emptyList();
        }
        Window window = new Window();
        window.active = true;
        window.id = root.getWindowId();
        window.root = root;
        root.getBoundsInScreen(window.bounds);
        return Collections.singletonList(window);
    }

    @Override
    public List<Window> frames() {
        if (sdk() < Build.VERSION_CODES.LOLLIPOP) {
            return Collections.emptyList();
        }
        forget();
        return Api21.windows(automation, false);
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        return node.getChild(index);
    }

    @Override
    public AccessibilityNodeInfo focusedField() {
        forget();
        if (sdk() >= Build.VERSION_CODES.LOLLIPOP) {
            return Api21.focused(automation);
        }
        AccessibilityNodeInfo root = automation.getRootInActiveWindow();
        return root == null ? null : root.findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
    }

    @Override
    public boolean inject(InputEvent event, boolean wait) {
        return automation.injectInputEvent(event, wait);
    }

    @Override
    public Bitmap screenshot() {
        return automation.takeScreenshot();
    }

    @Override
    public boolean global(int action) {
        return automation.performGlobalAction(action);
    }

    @Override
    public boolean rotate(int rotation) {
        return automation.setRotation(rotation);
    }

    @Override
    public String clipboard() throws Refusal {
        try {
            Object clipboard = Hidden.service("clipboard", "android.content.IClipboard");
            ClipData clip = (ClipData) Hidden.fill(clipboard, "getPrimaryClip", Hidden.SHELL);
            CharSequence text = clip == null || clip.getItemCount() == 0 ? null : clip.getItemAt(0).getText();
            return text == null ? "" : text.toString();
        } catch (RuntimeException error) {
            throw new Refusal(Protocol.UNSUPPORTED, "the clipboard can't be read: " + error);
        }
    }

    @Override
    public void setClipboard(String text) throws Refusal {
        try {
            Object clipboard = Hidden.service("clipboard", "android.content.IClipboard");
            Hidden.fill(clipboard, "setPrimaryClip", ClipData.newPlainText(null, text), Hidden.SHELL);
        } catch (RuntimeException error) {
            throw new Refusal(Protocol.UNSUPPORTED, "the clipboard can't be set: " + error);
        }
    }

    @Override
    public String top() {
        try {
            Object service = sdk() >= Build.VERSION_CODES.Q
                    ? Hidden.service("activity_task", "android.app.IActivityTaskManager")
                    : activityManager();
            List<?> tasks = (List<?>) Hidden.fill(service, "getTasks", 1);
            if (tasks == null || tasks.isEmpty()) {
                return null;
            }
            ComponentName top = (ComponentName) Hidden.field(tasks.get(0), "topActivity");
            return top == null ? null : top.getPackageName() + "/" + top.getClassName();
        } catch (RuntimeException differs) {
            return null;
        }
    }

    private Object activityManager() {
        return sdk() >= Build.VERSION_CODES.O
                ? Hidden.service("activity", "android.app.IActivityManager")
                : Hidden.call(Hidden.type("android.app.ActivityManagerNative"), null, "getDefault");
    }

    @Override
    public List<String> packageFiles(String packageName) {
        List<String> names = new ArrayList<String>();
        Object service = Hidden.service("package", "android.content.pm.IPackageManager");
        Object info = Hidden.fill(service, "getApplicationInfo", packageName);
        if (info == null) {
            return names;
        }
        List<String> archives = new ArrayList<String>();
        archives.add((String) Hidden.field(info, "sourceDir"));
        if (sdk() >= Build.VERSION_CODES.LOLLIPOP && Hidden.field(info, "splitSourceDirs") != null) {
            archives.addAll(Arrays.asList((String[]) Hidden.field(info, "splitSourceDirs")));
        }
        for (String archive : archives) {
            try (ZipFile zip = new ZipFile(archive)) {
                for (Enumeration<? extends ZipEntry> each = zip.entries(); each.hasMoreElements();) {
                    names.add(each.nextElement().getName());
                }
            } catch (IOException unreadable) {
                continue; // a split that is gone
            }
        }
        String[] libraries = new File((String) Hidden.field(info, "nativeLibraryDir")).list();
        if (libraries != null) {
            names.addAll(Arrays.asList(libraries));
        }
        return names;
    }

    @Override
    public long uptimeMs() {
        return SystemClock.uptimeMillis();
    }

    @Override
    public void sleepMs(long ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    private static final class Api21 {
        static List<Window> windows(UiAutomation automation, boolean withRoots) {
            List<Window> windows = new ArrayList<Window>();
            for (AccessibilityWindowInfo info : automation.getWindows()) {
                Window window = window(info);
                window.root = withRoots ? info.getRoot() : null;
                windows.add(window);
            }
            return windows;
        }

        static Window window(AccessibilityWindowInfo info) {
            Window window = new Window();
            window.id = info.getId();
            window.type = info.getType();
            window.layer = info.getLayer();
            info.getBoundsInScreen(window.bounds);
            window.focused = info.isFocused();
            window.active = info.isActive();
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.N) {
                window.title = Api24.title(info);
            }
            if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.O) {
                window.pictureInPicture = Api26.pictureInPicture(info);
            }
            return window;
        }

        static AccessibilityNodeInfo focused(UiAutomation automation) {
            return automation.findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
        }
    }

    private static final class Api24 {
        static CharSequence title(AccessibilityWindowInfo info) {
            return info.getTitle();
        }
    }

    private static final class Api34 {
        static void forget(UiAutomation automation) {
            automation.clearCache();
        }
    }

    private static final class Api26 {
        static boolean pictureInPicture(AccessibilityWindowInfo info) {
            return info.isInPictureInPictureMode();
        }
    }
}
