package androidx.test.internal.runner.intent;

import android.content.Intent;
import androidx.test.runner.intent.IntentMonitor;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public final class IntentMonitorImpl implements IntentMonitor {
    public void signalIntent(Intent intent) {
    }
}
