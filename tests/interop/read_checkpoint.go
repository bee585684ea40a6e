// Reads what Handrail signed and proved with Go's own packages, golang.org/x/mod/sumdb/note and tlog.
//
//	read_checkpoint KEY OLD NEW < proof of consistency, one hash a line
//	read_checkpoint KEY PROOF LEAF
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func fail(err error) {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
}

func hash(text string) tlog.Hash {
	var found tlog.Hash
	data, err := base64.StdEncoding.DecodeString(text)
	fail(err)
	copy(found[:], data)
	return found
}

// checkpoint opens a signed note and reads size and root.
func checkpoint(key string, data []byte) (int64, tlog.Hash) {
	verifier, err := note.NewVerifier(key)
	fail(err)
	opened, err := note.Open(data, note.VerifierList(verifier))
	fail(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	fail(err)
	fmt.Printf("%s %d signed by %s, %d others\n", lines[0], size, opened.Sigs[0].Name, len(opened.UnverifiedSigs))
	return size, hash(lines[2])
}

func main() {
	key := os.Args[1]
	data, err := os.ReadFile(os.Args[2])
	fail(err)
	if strings.HasPrefix(string(data), "c2sp.org/tlog-proof@v1\n") {
		head, signed, _ := strings.Cut(string(data), "\n\n")
		lines := strings.Split(head, "\n")
		index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
		fail(err)
		var path tlog.RecordProof
		for _, line := range lines[2:] {
			path = append(path, hash(line))
		}
		size, root := checkpoint(key, []byte(signed))
		fail(tlog.CheckRecord(path, size, root, index, hash(os.Args[3])))
		fmt.Println("included")
		return
	}
	oldSize, oldRoot := checkpoint(key, data)
	newer, err := os.ReadFile(os.Args[3])
	fail(err)
	newSize, newRoot := checkpoint(key, newer)
	var path tlog.TreeProof
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		path = append(path, hash(lines.Text()))
	}
	fail(tlog.CheckTree(path, newSize, newRoot, oldSize, oldRoot))
	fmt.Println("consistent")
}
