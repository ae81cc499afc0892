package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
)

const (
	encrypted  = "binary/encrypted"
	cipherName = "AES-256-GCM"
)

// codec encrypts payloads as Surefoot does: with the first of its keys, and decrypts with all of them.
type codec struct {
	first string
	keys  map[string]cipher.AEAD
}

// encrypting gives connections the keys of the environment, if there are any.
func encrypting(options client.Options) (client.Options, error) {
	text := os.Getenv("SUREFOOT_ENCRYPTION_KEYS")
	if text == "" {
		return options, nil
	}
	keys, err := readKeys(text)
	if err != nil {
		return options, err
	}
	options.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), keys)
	options.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter:          options.DataConverter,
		EncodeCommonAttributes: true,
	})
	return options, nil
}

func readKeys(text string) (*codec, error) {
	read := &codec{keys: map[string]cipher.AEAD{}}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \n", r) }) {
		id, encoded, _ := strings.Cut(word, ":")
		standard := strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(encoded)
		secret, err := base64.RawStdEncoding.DecodeString(standard)
		if err != nil || len(secret) != 32 {
			return nil, fmt.Errorf("the key %q is not 32 bytes in base64", id)
		}
		block, err := aes.NewCipher(secret)
		if err != nil {
			return nil, err
		}
		if read.keys[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if read.first == "" {
			read.first = id
		}
	}
	return read, nil
}

// bound is what is authenticated with a payload, and not written in it.
func bound(keyID string) []byte {
	return []byte("surefoot-1:payload:" + cipherName + ":" + keyID)
}

// Encode encrypts payloads, whole with their metadata.
func (c *codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(payload *commonpb.Payload) (*commonpb.Payload, error) {
		plain, err := proto.Marshal(payload)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, 12)
		if _, err := rand.Read(nonce); err != nil {
			return nil, err
		}
		return &commonpb.Payload{
			Metadata: map[string][]byte{
				"encoding":          []byte(encrypted),
				"encryption-cipher": []byte(cipherName),
				"encryption-key-id": []byte(c.first),
			},
			Data: c.keys[c.first].Seal(nonce, nonce, plain, bound(c.first)),
		}, nil
	})
}

// Decode decrypts payloads; plain ones stay as they are.
func (c *codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(payload *commonpb.Payload) (*commonpb.Payload, error) {
		if string(payload.Metadata["encoding"]) != encrypted {
			return payload, nil
		}
		id := string(payload.Metadata["encryption-key-id"])
		key, known := c.keys[id]
		if !known || string(payload.Metadata["encryption-cipher"]) != cipherName || len(payload.Data) < 12 {
			return nil, fmt.Errorf("this is encrypted with the key %q, which is not here", id)
		}
		plain, err := key.Open(nil, payload.Data[:12], payload.Data[12:], bound(id))
		if err != nil {
			return nil, fmt.Errorf("the key %q does not open this: %w", id, err)
		}
		opened := &commonpb.Payload{}
		return opened, proto.Unmarshal(plain, opened)
	})
}

func each(
	payloads []*commonpb.Payload, change func(*commonpb.Payload) (*commonpb.Payload, error),
) ([]*commonpb.Payload, error) {
	changed := make([]*commonpb.Payload, len(payloads))
	for n, payload := range payloads {
		var err error
		if changed[n], err = change(payload); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

var _ converter.PayloadCodec = (*codec)(nil)
