package androidx.test.runner.intent;

import android.app.Instrumentation;
import android.content.Intent;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public interface IntentStubber {
    Instrumentation.ActivityResult getActivityResultForIntent(Intent intent);
}
