package dev.handrail.helper;

/**
 * Every name and number that both sides of the connection must agree on.
 *
 * A test of the Python packages reads this file and compares it with the client and the simulator, so each
 * constant stays on one line.
 */
final class Protocol {
    static final String NAME = "handrail-helper";
    static final String VERSION = "1.0.0";
    /** What seed 003's `waitForReady` compares. */
    static final int PROTOCOL_VERSION = 1;
    static final String SOCKET_PREFIX = "handrail-";

    static final String STATUS = "/status";
    static final String TREE = "/tree";
    static final String FRAMEWORK = "/framework";
    static final String WAIT_IDLE = "/wait-idle";
    static final String SCREENSHOT = "/screenshot";
    static final String TAP = "/tap";
    static final String TAP_COORDINATES = "/tap-coordinates";
    static final String SWIPE = "/swipe";
    static final String LONG_PRESS = "/long-press";
    static final String KEY = "/key";
    static final String TEXT = "/text";
    static final String SHUTDOWN = "/shutdown";
    static final String LOOK = "/look";
    static final String GESTURE = "/gesture";
    static final String EVENTS = "/events";
    static final String REST = "/rest";
    static final String CLIPBOARD = "/clipboard";
    static final String GLOBAL = "/global";
    static final String ROTATION = "/rotation";
    static final String TOP = "/top";

    static final String NOT_FOUND = "NOT_FOUND";
    static final String BAD_REQUEST = "BAD_REQUEST";
    static final String BAD_TOKEN = "BAD_TOKEN";
    static final String TOO_LARGE = "TOO_LARGE";
    static final String NO_ACTIVE_WINDOW = "NO_ACTIVE_WINDOW";
    static final String NO_FOCUSED_FIELD = "NO_FOCUSED_FIELD";
    static final String NO_KEYS = "NO_KEYS";
    static final String REFUSED = "REFUSED";
    static final String NOT_INJECTED = "NOT_INJECTED";
    static final String NO_SCREENSHOT = "NO_SCREENSHOT";
    static final String UNSUPPORTED = "UNSUPPORTED";
    static final String UIAUTOMATION_HELD = "UIAUTOMATION_HELD";
    static final String NO_UIAUTOMATION = "NO_UIAUTOMATION";

    /** What every release says where another program holds UiAutomation. */
    static final String HELD_MARK = "already registered";

    /** Stands for what a password field holds; its length says nothing. */
    static final String MASK = "\u2022\u2022\u2022\u2022";

    static final int MAX_HEAD_BYTES = 16384;
    static final int MAX_BODY_BYTES = 4194304;
    static final int MAX_FINGERS = 10;
    static final int MAX_GESTURE_MS = 120000;
    static final int QUIET_MS = 150;
    static final int REST_TIMEOUT_MS = 10000;
    /** How long a look waits for a window: between two screens there is none, for seconds on a slow phone. */
    static final int WINDOW_WAIT_MS = 2000;
    /** So long a toast stands in looks: as long as Android shows a long one. */
    static final int MESSAGE_MS = 3500;
    /** How long the helper stays after its last connection ended. */
    static final int ORPHAN_MS = 3000;
    /** How long it waits for the first connection. */
    static final int FIRST_CONNECTION_MS = 30000;
    /** How long a connection may stay silent. */
    static final int IDLE_MS = 600000;

    private Protocol() {
    }
}
