package androidx.test.runner.lifecycle;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public enum ApplicationStage {
    PRE_ON_CREATE, CREATED
}
