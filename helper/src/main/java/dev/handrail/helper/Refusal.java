package dev.handrail.helper;

/** An answer other than success: a code for programs, words for people, and the HTTP status. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    final String code;
    final int status;
    /** False where nothing reached the phone, so that the caller may try another way. */
    final boolean delivered;

    Refusal(String code, String words, int status, boolean delivered) {
        super(words);
        this.code = code;
        this.status = status;
        this.delivered = delivered;
    }

    /** Refused before anything was done. */
    Refusal(String code, String words) {
        this(code, words, 200, false);
    }
}
