package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** HTTP and the server's life over real sockets, with an echo for a handler. */
public class ServerTest {
    private static final int LONG_MS = 600_000;
    private SocketSeam seam;
    private Server server;

    @Before
    public void start() throws IOException {
        seam = new SocketSeam();
        server = new Server(seam, SocketSeam.TOKEN, new Http.Handler() {
            @Override
            public void handle(Http.Request request, Http.Answer answer) throws Exception {
                switch (request.path) {
                    case "/refuse":
                        throw new Refusal("NO", "because \"no\"");
                    case "/break":
                        answer.write(new byte[20_000]);
                        throw new IllegalStateException("after the first byte");
                    case "/throw":
                        throw new IllegalStateException("a fault");
                    default:
                        JsonWriter json = new JsonWriter(answer);
                        json.object().field("path", request.path).field("method", request.method)
                                .field("query", request.query.toString())
                                .field("body", new String(request.body, Http.UTF_8)).endObject().flush();
                }
            }
        });
        server.start();
    }

    @After
    public void stop() throws Exception {
        server.stop();
        server.awaitEnd(LONG_MS, LONG_MS, LONG_MS);
    }

    @Test
    public void requestsAreAnsweredOneAfterTheOtherOnOneConnection() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            for (int i = 0; i < 5; i++) {
                assertEquals("/" + i, client.get("/" + i + "?a=%C3%A4&b").get("path"));
                assertTrue(client.head, client.head.contains("Connection: keep-alive"));
            }
            assertEquals("{a=\u00e4, b=}", client.get("/x?a=%C3%A4&b").get("query"));
            assertEquals("\u00e4", client.post("/x", "\u00e4").get("body"));
        }
    }

    @Test
    public void requestsThatComeByteByByteOrTogetherAreTheSame() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            for (char c : SocketSeam.Client.request("POST", "/slow", "body").toCharArray()) {
                client.send(String.valueOf(c));
            }
            assertEquals("body", ((Map<?, ?>) JsonReader.read(client.answer())).get("body"));
            client.send(SocketSeam.Client.request("GET", "/first", "") + SocketSeam.Client.request("GET", "/second", ""));
            assertTrue(client.answer().contains("/first"));
            assertTrue(client.answer().contains("/second"));
        }
    }

    @Test
    public void aWrongTokenIsRefusedAndTheConnectionEnds() throws Exception {
        String right = SocketSeam.Client.request("GET", "/x", "");
        for (String request : Arrays.asList(right.replace(SocketSeam.TOKEN, "wrong"),
                right.replace(SocketSeam.TOKEN, SocketSeam.TOKEN + "x"), right.replace("Authorization", "X"),
                right.replace("Bearer ", ""))) {
            try (SocketSeam.Client client = seam.client()) {
                client.send(request);
                String answer = client.answer();
                assertEquals(401, client.status);
                assertTrue(answer, answer.contains(Protocol.BAD_TOKEN) && answer.contains("\"delivered\":false"));
                assertNull(client.answer());
            }
        }
    }

    @Test
    public void anotherAppOnThePhoneGetsNoWord() throws Exception {
        for (int uid : new int[] {10_123, 1000, -1, 2001}) {
            seam.uid = uid;
            try (SocketSeam.Client client = seam.client()) {
                assertEquals(-1, client.in.read());
            }
        }
        seam.uid = 0;
        try (SocketSeam.Client client = seam.client()) {
            assertEquals("/x", client.get("/x").get("path"));
        }
    }

    @Test
    public void whatIsTooLargeIsRefusedUnread() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            client.send("POST /x HTTP/1.1\r\nContent-Length: " + (Protocol.MAX_BODY_BYTES + 1) + "\r\n\r\n");
            assertTrue(client.answer().contains(Protocol.TOO_LARGE));
            assertEquals(413, client.status);
        }
        try (SocketSeam.Client client = seam.client()) {
            client.send("GET /x HTTP/1.1\r\nA: " + String.join("", Collections.nCopies(Protocol.MAX_HEAD_BYTES, "a")));
            assertTrue(client.answer().contains(Protocol.TOO_LARGE));
            assertEquals(431, client.status);
        }
        try (SocketSeam.Client client = seam.client()) {
            String large = String.join("", Collections.nCopies(Protocol.MAX_BODY_BYTES, "b"));
            assertEquals(large, client.post("/x", large).get("body"));
        }
    }

    @Test
    public void whatIsNoHttpIsRefusedWithItsReason() throws Exception {
        for (String bad : new String[] {"hello\r\n\r\n", "GET /x\r\n\r\n", "GET /x FTP/1.1\r\n\r\n",
            "GET /x HTTP/1.1\r\nno colon\r\n\r\n", "POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST /x HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET /x?a=%zz HTTP/1.1\r\n\r\n"}) {
            try (SocketSeam.Client client = seam.client()) {
                client.send(bad);
                assertTrue(bad, client.answer().contains(Protocol.BAD_REQUEST));
                assertTrue(bad, client.status == 400 || client.status == 501);
            }
        }
    }

    @Test
    public void refusalsAndFaultsKeepTheConnection() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            Map<?, ?> refused = client.get("/refuse");
            assertEquals("because \"no\"", refused.get("error"));
            assertEquals(200, client.status);
            assertEquals("IllegalStateException", client.get("/throw").get("code"));
            assertEquals(500, client.status);
            assertEquals("/on", client.get("/on").get("path"));
        }
    }

    @Test
    public void anAnswerThatBreaksOffIsNoWholeAnswer() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            client.send(SocketSeam.Client.request("GET", "/break", ""));
            for (String line = client.line(); !line.isEmpty(); line = client.line()) {
                assertTrue(line, !line.startsWith("HTTP") || line.contains("200"));
            }
            assertEquals(20_000, client.chunk().length);
            assertEquals(-1, client.in.read());
        }
    }

    @Test
    public void anAnswerIsZippedForWhoReadsThatAlone() throws Exception {
        String large = String.join("", Collections.nCopies(50_000, "0123456789"));
        try (SocketSeam.Client client = seam.client()) {
            assertEquals(large, client.post("/x", large).get("body"));
            assertTrue(client.head, !client.head.contains("gzip"));
            client.send(SocketSeam.Client.request("POST", "/x", large).replace("Host:", "Accept-Encoding: gzip\r\nHost:"));
            byte[] zipped = client.body();
            assertTrue(client.head, client.head.contains("Content-Encoding: gzip"));
            assertTrue(String.valueOf(zipped.length), zipped.length < large.length() / 50);
            String answer = new String(new GZIPInputStream(new ByteArrayInputStream(zipped)).readAllBytes(), Http.UTF_8);
            assertEquals(large, ((Map<?, ?>) JsonReader.read(answer)).get("body"));
            client.send(SocketSeam.Client.request("GET", "/refuse", "").replace("Host:", "Accept-Encoding: gzip\r\nHost:"));
            answer = new String(new GZIPInputStream(new ByteArrayInputStream(client.body())).readAllBytes(), Http.UTF_8);
            assertEquals("NO", ((Map<?, ?>) JsonReader.read(answer)).get("code"));
        }
    }

    @Test
    public void aConnectionThatWantsToCloseIsClosed() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            client.send(SocketSeam.Client.request("GET", "/x", "").replace("Host:", "Connection: close\r\nHost:"));
            assertTrue(client.answer().contains("/x"));
            assertNull(client.answer());
        }
    }

    @Test
    public void moreConnectionsThanItServesAreClosed() throws Exception {
        SocketSeam.Client[] clients = new SocketSeam.Client[Server.MOST_CONNECTIONS];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = seam.client();
            assertEquals("/x", clients[i].get("/x").get("path"));
        }
        try (SocketSeam.Client client = seam.client()) {
            assertEquals(-1, client.in.read());
        }
        for (SocketSeam.Client client : clients) {
            client.close();
        }
    }

    @Test
    public void itEndsWhenItsCallerHangsUp() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            assertEquals("/x", client.get("/x").get("path"));
        }
        assertEquals("the caller hung up", server.awaitEnd(LONG_MS, 1, LONG_MS));
    }

    @Test
    public void itEndsWhenNobodyComes() throws Exception {
        assertEquals("nobody connected", server.awaitEnd(1, LONG_MS, LONG_MS));
    }

    @Test
    public void itEndsWhenItsCallerIsSilent() throws Exception {
        try (SocketSeam.Client client = seam.client()) {
            assertEquals("/x", client.get("/x").get("path"));
            assertEquals("idle", server.awaitEnd(LONG_MS, LONG_MS, 1));
            assertNull(client.answer());
        }
    }

    @Test
    public void itsCallersDeathEndsItWithinFiveSeconds() {
        assertTrue(Protocol.ORPHAN_MS < 5_000);
    }
}
