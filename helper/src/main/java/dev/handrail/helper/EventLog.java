package dev.handrail.helper;

import android.view.accessibility.AccessibilityEvent;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last accessibility events, numbered from 1, and the time of the last that changes the picture. */
final class EventLog {
    static final int KEPT = 512;
    private static final int CHANGES_PICTURE = AccessibilityEvent.TYPE_WINDOW_STATE_CHANGED
            | AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED
            | AccessibilityEvent.TYPE_VIEW_SCROLLED
            | AccessibilityEvent.TYPE_VIEW_TEXT_CHANGED
            | AccessibilityEvent.TYPE_VIEW_SELECTED
            | AccessibilityEvent.TYPE_VIEW_FOCUSED
            | AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED
            | 0x00400000; // TYPE_WINDOWS_CHANGED, API 21

    /** A copy of an event, because the platform recycles its own. */
    static final class Entry {
        final long number;
        final long atMs;
        final int type;
        final String packageName;
        final String className;
        final List<String> texts = new ArrayList<String>();
        final String description;
        final int changes;
        final boolean toast;

        Entry(long number, long atMs, AccessibilityEvent event) {
            this.number = number;
            this.atMs = atMs;
            type = event.getEventType();
            packageName = string(event.getPackageName());
            className = string(event.getClassName());
            List<CharSequence> spoken = event.getText();
            if (event.isPassword()) {
                texts.add(Protocol.MASK);
            } else if (spoken != null) {
                for (CharSequence text : spoken) {
                    if (text != null && text.length() > 0) {
                        texts.add(text.toString());
                    }
                }
            }
            description = event.isPassword() ? "" : string(event.getContentDescription());
            changes = event.getContentChangeTypes();
            // A toast's class is android.widget.Toast or, before Android 11, Toast$TN. Notifications have
            // their own class, android.app.Notification.
            toast = type == AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED
                    && className.startsWith("android.widget.Toast");
        }

        /** A toast, or a notification with words. */
        boolean isMessage() {
            return type == AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED && !texts.isEmpty();
        }

        String name() {
            return AccessibilityEvent.eventTypeToString(type);
        }

        void write(JsonWriter json) throws IOException {
            json.object().field("number", number).field("atMs", atMs).field("type", name())
                    .unlessEmpty("packageName", packageName).unlessEmpty("className", className);
            if (!texts.isEmpty()) {
                json.array("texts");
                for (String text : texts) {
                    json.value(text);
                }
                json.endArray();
            }
            json.unlessEmpty("contentDescription", description);
            if (changes != 0) {
                json.field("changes", changes);
            }
            json.ifTrue("toast", toast).endObject();
        }

        private static String string(CharSequence text) {
            return text == null ? "" : text.toString();
        }
    }

    private final Deque<Entry> entries = new ArrayDeque<Entry>();
    private long last;
    private long pictureMs = Long.MIN_VALUE / 2;

    /** The platform calls this on its own thread. */
    synchronized void add(AccessibilityEvent event, long nowMs) {
        Entry entry = new Entry(++last, nowMs, event);
        entries.add(entry);
        if (entries.size() > KEPT) {
            entries.remove();
        }
        if ((entry.type & CHANGES_PICTURE) != 0) {
            pictureMs = nowMs;
        }
        notifyAll();
    }

    synchronized long last() {
        return last;
    }

    /** When the picture last changed, in uptime; long ago if never. */
    synchronized long pictureMs() {
        return pictureMs;
    }

    /** Those after `number`. Fewer than were numbered if older ones have been dropped. */
    synchronized List<Entry> since(long number) {
        List<Entry> later = new ArrayList<Entry>();
        for (Entry entry : entries) {
            if (entry.number > number) {
                later.add(entry);
            }
        }
        return later;
    }

    /** Returns early when an event comes. */
    synchronized void await(long number, long ms) throws InterruptedException {
        if (last <= number && ms > 0) {
            wait(ms);
        }
    }

    static boolean changesPicture(Entry entry) {
        return (entry.type & CHANGES_PICTURE) != 0;
    }
}
