package dev.handrail.helper;

import android.os.Build;
import android.os.Bundle;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;

/** Puts text into the focused field and reads it back. */
final class TextEntry {
    static final String SET = "set";
    static final String PASTE = "paste";
    static final String KEYS = "keys";
    private static final int READ_BACK_MS = 500;
    private static final int POLL_MS = 25;

    /** Which way was used, and what the field holds afterwards; null where it can't be read. */
    static final class Outcome {
        final String way;
        final String readBack;
        final boolean password;

        Outcome(String way, String readBack, boolean password) {
            this.way = way;
            this.readBack = readBack;
            this.password = password;
        }
    }

    private final Phone phone;
    private final KeyCharacterMap keys;

    /** `keys` is null where the platform has no virtual keyboard. */
    TextEntry(Phone phone, KeyCharacterMap keys) {
        this.phone = phone;
        this.keys = keys;
    }

    /** Replaces all text of the field: by ACTION_SET_TEXT, else by the clipboard, else by keys. */
    Outcome replace(String text) throws Refusal, InterruptedException {
        AccessibilityNodeInfo field = field();
        if (phone.sdk() >= Build.VERSION_CODES.LOLLIPOP && setText(field, text)) {
            return outcome(SET, text);
        }
        KeyEvent[] events = events(text);
        if (text.isEmpty() || events == null) {
            return paste(field, text);
        }
        selectAll(field);
        play(events);
        return outcome(KEYS, text);
    }

    /** Types at the cursor by keys; what has no key is put there by the other ways. */
    Outcome type(String text) throws Refusal, InterruptedException {
        KeyEvent[] events = events(text);
        if (events != null) {
            play(events);
            return outcome(KEYS, null);
        }
        AccessibilityNodeInfo field = field();
        String before = field.getText() == null || showsHint(field) ? "" : field.getText().toString();
        int from = field.getTextSelectionStart();
        int to = field.getTextSelectionEnd();
        boolean placed = from >= 0 && to >= from && to <= before.length() && !field.isPassword();
        if (before.isEmpty()) {
            return replace(text);
        }
        if (!placed) {
            throw new Refusal(Protocol.NO_KEYS, "some characters have no key, and the cursor is unknown");
        }
        return replace(before.substring(0, from) + text + before.substring(to));
    }

    private AccessibilityNodeInfo field() throws Refusal {
        AccessibilityNodeInfo field = phone.focusedField();
        if (field == null) {
            throw new Refusal(Protocol.NO_FOCUSED_FIELD, "no field has the input focus");
        }
        return field;
    }

    private boolean showsHint(AccessibilityNodeInfo field) {
        return phone.sdk() >= Build.VERSION_CODES.O && Api26.showsHint(field);
    }

    private static boolean setText(AccessibilityNodeInfo field, String text) {
        Bundle arguments = new Bundle();
        arguments.putCharSequence("ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE", text);
        return field.performAction(0x00200000 /* ACTION_SET_TEXT, API 21 */, arguments);
    }

    private Outcome paste(AccessibilityNodeInfo field, String text) throws Refusal, InterruptedException {
        selectAll(field);
        if (text.isEmpty()) {
            play(new KeyEvent[] {new KeyEvent(KeyEvent.ACTION_DOWN, KeyEvent.KEYCODE_DEL),
                new KeyEvent(KeyEvent.ACTION_UP, KeyEvent.KEYCODE_DEL)});
            return outcome(KEYS, text);
        }
        String kept = phone.clipboard();
        phone.setClipboard(text);
        try {
            if (!field.performAction(AccessibilityNodeInfo.ACTION_PASTE)) {
                throw new Refusal(Protocol.REFUSED, "the field takes neither text nor paste, and keys can't");
            }
            return outcome(PASTE, text);
        } finally {
            phone.setClipboard(kept);
        }
    }

    private void selectAll(AccessibilityNodeInfo field) {
        int length = field.getText() == null || showsHint(field) ? 0 : field.getText().length();
        Bundle range = new Bundle();
        range.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT, 0);
        range.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT, length);
        field.performAction(AccessibilityNodeInfo.ACTION_SET_SELECTION, range);
    }

    /** Null if a character has no key. */
    private KeyEvent[] events(String text) {
        return keys == null ? null : keys.getEvents(text.toCharArray());
    }

    private void play(KeyEvent[] events) throws Refusal {
        for (int i = 0; i < events.length; i++) {
            long now = phone.uptimeMs();
            KeyEvent event = KeyEvent.changeTimeRepeat(events[i], now, 0);
            event.setSource(InputDevice.SOURCE_KEYBOARD);
            Gestures.send(phone, event, true, i > 0);
        }
    }

    /** Apps take text a moment later, so the field is read until it has `wanted` or the time is over. */
    private Outcome outcome(String way, String wanted) throws InterruptedException {
        long end = phone.uptimeMs() + READ_BACK_MS;
        while (true) {
            AccessibilityNodeInfo field = phone.focusedField();
            if (field == null) {
                return new Outcome(way, null, false);
            }
            if (field.isPassword()) {
                return new Outcome(way, Protocol.MASK, true);
            }
            String text = field.getText() == null || showsHint(field) ? "" : field.getText().toString();
            if (wanted == null || text.equals(wanted) || phone.uptimeMs() >= end) {
                return new Outcome(way, text, false);
            }
            phone.sleepMs(POLL_MS);
        }
    }

    private static final class Api26 {
        static boolean showsHint(AccessibilityNodeInfo field) {
            return field.isShowingHintText();
        }
    }
}
