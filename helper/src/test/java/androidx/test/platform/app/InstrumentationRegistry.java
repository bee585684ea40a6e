package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public final class InstrumentationRegistry {
    private InstrumentationRegistry() {
    }

    public static void registerInstance(Instrumentation instrumentation, Bundle arguments) {
    }
}
