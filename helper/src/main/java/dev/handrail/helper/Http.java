package dev.handrail.helper;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** HTTP/1.1 on one connection: requests with a token, answers in chunks, kept alive. Knows no path. */
final class Http {
    static final Charset UTF_8 = Charset.forName("UTF-8");
    private static final int CHUNK = 16384;

    /** A byte stream with its peer's user id; -1 if the platform does not tell it. */
    interface Connection extends Closeable {
        InputStream input() throws IOException;

        OutputStream output() throws IOException;

        int peerUid() throws IOException;
    }

    static final class Request {
        String method = "";
        String path = "";
        final Map<String, String> query = new LinkedHashMap<String, String>();
        /** Names in lower case. */
        final Map<String, String> headers = new LinkedHashMap<String, String>();
        byte[] body = new byte[0];
    }

    /**
     * Where an answer goes. It leaves in chunks of CHUNK bytes, the last one with its end: adbd waits for an
     * acknowledgement after each write, so a small answer is one. JSON is zipped for a caller who reads that.
     */
    final class Answer extends OutputStream {
        private static final String JSON = "application/json";

        private final boolean mayZip;
        private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
        private GZIPOutputStream zipped;
        private int status = 200;
        private String type = JSON;
        private boolean begun;

        Answer(boolean mayZip) {
            this.mayZip = mayZip;
        }

        void head(int newStatus, String newType) {
            status = newStatus;
            type = newType;
        }

        /** Whether bytes have left. */
        boolean begun() {
            return begun;
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (mayZip && type.equals(JSON)) {
                if (zipped == null) {
                    zipped = new Zip(pending);
                }
                zipped.write(bytes, from, count);
            } else {
                pending.write(bytes, from, count);
            }
            if (pending.size() >= CHUNK) {
                leave("");
            }
        }

        /** Only a stream's lines leave before their chunk is full. */
        @Override
        public void flush() throws IOException {
            if (!type.equals(JSON)) {
                leave("");
            }
        }

        void end() throws IOException {
            if (zipped != null) {
                zipped.finish();
            }
            leave("0\r\n\r\n");
        }

        /** Forgets what has not left. */
        void reset() {
            pending.reset();
            zipped = null;
        }

        private void leave(String end) throws IOException {
            ByteArrayOutputStream packet = new ByteArrayOutputStream(pending.size() + 256);
            if (!begun) {
                begun = true;
                packet.write(("HTTP/1.1 " + status + (status == 200 ? " OK" : " Refused") + "\r\nContent-Type: "
                        + type + (zipped == null ? "" : "\r\nContent-Encoding: gzip") + "\r\nX-Helper-Version: "
                        + Protocol.VERSION + "\r\nTransfer-Encoding: chunked\r\nConnection: "
                        + (closing ? "close" : "keep-alive") + "\r\n\r\n").getBytes(UTF_8));
            }
            if (pending.size() > 0) {
                packet.write((Integer.toHexString(pending.size()) + "\r\n").getBytes(UTF_8));
                pending.writeTo(packet);
                packet.write("\r\n".getBytes(UTF_8));
                pending.reset();
            }
            packet.write(end.getBytes(UTF_8));
            packet.writeTo(out);
            out.flush();
        }
    }

    private static final class Zip extends GZIPOutputStream {
        Zip(OutputStream out) throws IOException {
            super(out, CHUNK);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }

    /** What serves the requests. */
    interface Handler {
        void handle(Request request, Answer answer) throws Exception;
    }

    private final Connection connection;
    private final byte[] token;
    private final Handler handler;
    private InputStream in;
    private OutputStream out;
    private boolean closing;

    Http(Connection connection, String token, Handler handler) {
        this.connection = connection;
        this.token = token.getBytes(UTF_8);
        this.handler = handler;
    }

    static boolean mayTalk(int uid) {
        return uid == 0 || uid == 2000; // root and shell; -1 is nobody
    }

    /** Serves until the peer hangs up, breaks the protocol or shows a wrong token. */
    void serve() throws IOException {
        try {
            if (!mayTalk(connection.peerUid())) {
                return;
            }
            in = new BufferedInputStream(connection.input());
            out = connection.output();
            while (!closing) {
                Request request;
                Answer answer = new Answer(false);
                try {
                    request = read();
                    if (request == null) {
                        return;
                    }
                    if (!isToken(request.headers.get("authorization"))) {
                        throw new Refusal(Protocol.BAD_TOKEN, "the token is missing or wrong", 401, false);
                    }
                } catch (Refusal refusal) {
                    closing = true;
                    refuse(answer, refusal);
                    return;
                }
                closing = "close".equalsIgnoreCase(request.headers.get("connection"));
                String encodings = request.headers.get("accept-encoding");
                answer(request, new Answer(encodings != null && encodings.contains("gzip")));
            }
        } finally {
            connection.close();
        }
    }

    private void answer(Request request, Answer answer) throws IOException {
        try {
            handler.handle(request, answer);
            answer.end();
        } catch (Refusal refusal) {
            failed(answer, refusal);
        } catch (IOException error) {
            throw error;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted");
        } catch (Exception error) {
            failed(answer, new Refusal(error.getClass().getSimpleName(), String.valueOf(error.getMessage()), 500,
                    true));
        } catch (StackOverflowError error) {
            failed(answer, new Refusal("StackOverflowError", "too deep", 500, true));
        } catch (OutOfMemoryError error) {
            failed(answer, new Refusal("OutOfMemoryError", "too large", 500, true));
        }
    }

    /** Once the answer has begun, only hanging up tells that it is not whole. */
    private void failed(Answer answer, Refusal refusal) throws IOException {
        if (answer.begun()) {
            throw new IOException("the answer broke off: " + refusal.getMessage());
        }
        refuse(answer, refusal);
    }

    private void refuse(Answer answer, Refusal refusal) throws IOException {
        answer.reset();
        answer.head(refusal.status, Answer.JSON);
        JsonWriter json = new JsonWriter(answer);
        json.object().field("ok", false).field("error", refusal.getMessage()).field("code", refusal.code)
                .field("delivered", refusal.delivered).endObject().flush();
        answer.end();
    }

    /** Compares in constant time. */
    private boolean isToken(String header) {
        String word = header == null ? "" : header;
        return MessageDigest.isEqual(word.getBytes(UTF_8), ("Bearer " + new String(token, UTF_8)).getBytes(UTF_8));
    }

    /** Null if the peer hung up between requests. */
    private Request read() throws IOException, Refusal {
        String head = readHead();
        if (head == null) {
            return null;
        }
        String[] lines = head.split("\r\n");
        String[] words = lines[0].split(" ");
        if (words.length != 3 || !words[2].startsWith("HTTP/1.")) {
            throw bad("the first line is not a request");
        }
        Request request = new Request();
        request.method = words[0].toUpperCase(Locale.ROOT);
        int mark = words[1].indexOf('?');
        request.path = mark < 0 ? words[1] : words[1].substring(0, mark);
        readQuery(mark < 0 ? "" : words[1].substring(mark + 1), request.query);
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon < 1) {
                throw bad("a header has no name");
            }
            String name = lines[i].substring(0, colon).trim().toLowerCase(Locale.ROOT);
            request.headers.put(name, lines[i].substring(colon + 1).trim());
        }
        request.body = readBody(request.headers);
        return request;
    }

    private static void readQuery(String query, Map<String, String> into) throws IOException, Refusal {
        for (String pair : query.isEmpty() ? new String[0] : query.split("&")) {
            int mark = pair.indexOf('=');
            String name = mark < 0 ? pair : pair.substring(0, mark);
            try {
                into.put(URLDecoder.decode(name, "UTF-8"),
                        mark < 0 ? "" : URLDecoder.decode(pair.substring(mark + 1), "UTF-8"));
            } catch (IllegalArgumentException error) {
                throw bad("the query has a broken escape");
            }
        }
    }

    /** Null if the peer hung up before the head was whole. */
    private String readHead() throws IOException, Refusal {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int matched = 0;
        while (matched < 4) {
            int octet = in.read();
            if (octet < 0) {
                return null;
            }
            if (head.size() >= Protocol.MAX_HEAD_BYTES) {
                throw new Refusal(Protocol.TOO_LARGE, "the head is too large", 431, false);
            }
            head.write(octet);
            boolean expected = octet == (matched % 2 == 0 ? '\r' : '\n');
            matched = expected ? matched + 1 : octet == '\r' ? 1 : 0;
        }
        String text = head.toString("ISO-8859-1");
        return text.substring(0, text.length() - 4);
    }

    private byte[] readBody(Map<String, String> headers) throws IOException, Refusal {
        if (headers.containsKey("transfer-encoding")) {
            throw new Refusal(Protocol.BAD_REQUEST, "requests have a Content-Length", 501, false);
        }
        String length = headers.get("content-length");
        if (length == null) {
            return new byte[0];
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw bad("the Content-Length is not a number");
        }
        if (Long.parseLong(length) > Protocol.MAX_BODY_BYTES) {
            throw new Refusal(Protocol.TOO_LARGE, "the body is too large", 413, false);
        }
        byte[] body = new byte[Integer.parseInt(length)];
        for (int filled = 0; filled < body.length;) {
            int count = in.read(body, filled, body.length - filled);
            if (count < 0) {
                throw new IOException("the peer hung up inside a body");
            }
            filled += count;
        }
        return body;
    }

    private static Refusal bad(String words) {
        return new Refusal(Protocol.BAD_REQUEST, words, 400, false);
    }
}
