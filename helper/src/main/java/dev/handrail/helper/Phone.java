package dev.handrail.helper;

import android.graphics.Bitmap;
import android.graphics.Rect;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;

/** What the operations need of the device. AndroidPhone is the real one; tests have their own. */
interface Phone {
    int sdk();

    String model();

    String manufacturer();

    Display display();

    /** The topmost first. Where the platform tells no windows (API 20 and older), the active one alone. */
    List<Window> windows();

    /** The same windows without their roots, which apps would have to answer for; empty before API 21. */
    List<Window> frames();

    AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index);

    /** The field that has the input focus, read anew; null without one. */
    AccessibilityNodeInfo focusedField();

    /**
     * With `wait` it returns when the app has handled the event. False if the platform refused it, or if the
     * app did not handle it in time. Throws SecurityException where the phone lets adb inject nothing.
     */
    boolean inject(InputEvent event, boolean wait);

    /** Null if the platform takes none. */
    Bitmap screenshot();

    boolean global(int action);

    /** 0 to 3 freezes it there, -1 as it is, -2 lets it turn again. */
    boolean rotate(int rotation);

    String clipboard() throws Refusal;

    void setClipboard(String text) throws Refusal;

    /** `package/class` of the activity in front; null where the platform does not tell. */
    String top();

    /** Paths inside the app's APKs; empty for an unknown package. */
    List<String> packageFiles(String packageName);

    long uptimeMs();

    void sleepMs(long ms) throws InterruptedException;

    /** Size in pixels as turned now, the rotation in quarter turns, the rate in frames per second. */
    final class Display {
        final int width;
        final int height;
        final int rotation;
        final int density;
        final float rate;

        Display(int width, int height, int rotation, int density, float rate) {
            this.width = width;
            this.height = height;
            this.rotation = rotation;
            this.density = density;
            this.rate = rate;
        }
    }

    /** One window. `id` and `layer` are -1 where the platform does not tell them. */
    final class Window {
        int id = -1;
        int type = -1;
        int layer = -1;
        Rect bounds = new Rect();
        CharSequence title;
        boolean focused;
        boolean active;
        boolean pictureInPicture;
        /** Null for a window that shows nothing to accessibility. */
        AccessibilityNodeInfo root;
    }
}
