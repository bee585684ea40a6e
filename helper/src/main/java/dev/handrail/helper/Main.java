package dev.handrail.helper;

import android.net.LocalServerSocket;
import android.net.LocalSocket;
import android.os.Looper;
import android.view.KeyCharacterMap;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.security.SecureRandom;

/**
 * Started by `app_process` as the shell user. The first line of standard input is the token; its end is the
 * end of the helper. The first line of standard output says the socket's name, or why there is none.
 */
public final class Main {
    private static final int MAX_TOKEN = 256;

    private Main() {
    }

    /** Ends the process, because the platform's own threads would keep it. */
    public static void main(String[] arguments) {
        int code = 1;
        try {
            code = run(System.in, System.out);
        } catch (Throwable error) { // the caller reads one line, whatever happened
            announce(System.out, false, "code", Protocol.NO_UIAUTOMATION, "error", String.valueOf(error));
        }
        System.exit(code);
    }

    private static int run(final InputStream input, PrintStream output) throws Exception {
        String token = readToken(input);
        if (token.length() < 16) {
            announce(output, false, "code", Protocol.BAD_TOKEN, "error", "no token came by standard input");
            return 2;
        }
        Looper.prepareMainLooper();
        EventLog events = new EventLog();
        AndroidPhone phone;
        try {
            phone = new AndroidPhone(events);
        } catch (IllegalStateException refused) {
            boolean held = String.valueOf(refused.getMessage()).contains(Protocol.HELD_MARK);
            announce(output, false, "code", held ? Protocol.UIAUTOMATION_HELD : Protocol.NO_UIAUTOMATION,
                    "error", String.valueOf(refused));
            return 3;
        }
        try {
            return serve(phone, events, token, input, output);
        } finally {
            phone.disconnect();
        }
    }

    private static int serve(AndroidPhone phone, EventLog events, String token, final InputStream input,
            PrintStream output) throws Exception {
        String name = Protocol.SOCKET_PREFIX + random();
        final LocalServerSocket socket = new LocalServerSocket(name);
        final Server[] server = new Server[1];
        Operations operations = new Operations(phone, events, keys(), new Runnable() {
            @Override
            public void run() {
                server[0].stop();
            }
        });
        server[0] = new Server(listener(socket), token, operations);
        server[0].start();
        Thread watching = new Thread("standard input") {
            @Override
            public void run() {
                awaitEnd(input);
                server[0].stop();
            }
        };
        watching.setDaemon(true);
        watching.start();
        announce(output, true, "socket", name, "version", Protocol.VERSION);
        server[0].awaitEnd(Protocol.FIRST_CONNECTION_MS, Protocol.ORPHAN_MS, Protocol.IDLE_MS);
        return 0;
    }

    /** Null on a phone without a virtual keyboard. */
    private static KeyCharacterMap keys() {
        try {
            return KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD);
        } catch (RuntimeException unavailable) {
            return null;
        }
    }

    private static Server.Listener listener(final LocalServerSocket socket) {
        return new Server.Listener() {
            @Override
            public Http.Connection accept() throws IOException {
                return connection(socket.accept());
            }

            @Override
            public void close() throws IOException {
                socket.close();
            }
        };
    }

    private static Http.Connection connection(final LocalSocket socket) {
        return new Http.Connection() {
            @Override
            public InputStream input() throws IOException {
                return socket.getInputStream();
            }

            @Override
            public OutputStream output() throws IOException {
                return socket.getOutputStream();
            }

            @Override
            public int peerUid() throws IOException {
                return socket.getPeerCredentials().getUid();
            }

            @Override
            public void close() throws IOException {
                socket.shutdownInput(); // wakes a thread that reads; close alone does not
                socket.shutdownOutput();
                socket.close();
            }
        };
    }

    static String readToken(InputStream input) throws IOException {
        ByteArrayOutputStream token = new ByteArrayOutputStream();
        int octet;
        while (token.size() < MAX_TOKEN && (octet = input.read()) >= 0 && octet != '\n') {
            token.write(octet);
        }
        return token.toString("UTF-8").trim();
    }

    private static void awaitEnd(InputStream input) {
        try {
            while (input.read() >= 0) {
                continue; // nothing is said after the token
            }
        } catch (IOException gone) {
            return;
        }
    }

    private static void announce(PrintStream output, boolean ok, String... pairs) {
        try {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            JsonWriter json = new JsonWriter(line);
            json.object().field("ok", ok).field("protocolVersion", Protocol.PROTOCOL_VERSION);
            for (int i = 0; i < pairs.length; i += 2) {
                json.field(pairs[i], pairs[i + 1]);
            }
            json.endObject().newline().flush();
            output.write(line.toByteArray());
            output.flush();
        } catch (IOException gone) {
            return; // nobody listens, so the end of standard input follows
        }
    }

    private static String random() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        StringBuilder name = new StringBuilder();
        for (byte each : bytes) {
            name.append(Character.forDigit(each >> 4 & 0xf, 16)).append(Character.forDigit(each & 0xf, 16));
        }
        return name.toString();
    }
}
