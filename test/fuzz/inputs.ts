import fc from 'fast-check';
import { DEVELOPMENT_TOKEN } from '../../local/development-token.ts';

/** A value as JSON text, with what the service must make of it; nothing where it must refuse it. */
interface Written<Value> {
  text: string;
  value: Value | undefined;
}

/** The text of a NewPlant, or nearly one, and the plant that it states. */
export interface WrittenPlant {
  body: string;
  plant: { id: bigint; name: string; tag?: string } | undefined;
}

const MAX = 2n ** 63n - 1n;

/** Few ids as well as all, so that plants meet under one id. */
const id: fc.Arbitrary<Written<bigint>> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => ({ text: String(n), value: BigInt(n) })) },
  { weight: 4, arbitrary: fc.bigInt({ min: -MAX - 1n, max: MAX }).map((n) => ({ text: String(n), value: n })) },
  fc.integer().map((n) => ({ text: `${n}.0`, value: BigInt(n) })),
  fc.nat({ max: 9 }).map((n) => ({ text: `${n}e3`, value: BigInt(n) * 1000n })),
  fc.constant({ text: '-0', value: 0n }),
  fc.bigInt({ min: MAX + 1n, max: MAX * 9n }).map((n) => ({ text: String(n), value: undefined })),
  fc
    .oneof(fc.constantFrom('1.5', '1e30', '"7"', 'true', '[7]', '{}', 'null', '9007199254740992.0'), fc.json())
    .filter((text) => !Number.isSafeInteger(JSON.parse(text)))
    .map((text) => ({ text, value: undefined })),
);

/** A string written as JSON, some of its units as escapes, now and then not well-formed. */
const string: fc.Arbitrary<Written<string>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.string({ unit: 'binary' }), fc.boolean()).map(([value, escaped]) => ({
      text: escaped
        ? `"${[...Array(value.length).keys()].map((i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(value),
      value,
    })),
  },
  fc.constantFrom('"\\ud800"', '"\\udfff\\ud800"', '7', 'null', '[]').map((text) => ({ text, value: undefined })),
  fc.integer({ min: 100, max: 390_000 }).map((n) => ({ text: `"${'x'.repeat(n)}"`, value: 'x'.repeat(n) })),
);

const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const otherMember = fc
  .tuple(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('toString', 'constructor', 'ID', 'length')),
    fc.oneof(fc.json(), fc.constant(`${'['.repeat(500)}${']'.repeat(500)}`)),
  )
  .filter(([name]) => !['id', 'name', 'tag', '__proto__'].includes(name))
  .filter(([name, value]) => !/__proto__|prototype/.test(name + value))
  .map(([name, value]) => `${JSON.stringify(name)}:${value}`);

export const writtenPlant: fc.Arbitrary<WrittenPlant> = fc
  .record({
    id: fc.option(id, { freq: 20, nil: undefined }),
    name: fc.option(string, { freq: 20, nil: undefined }),
    tag: fc.option(string, { freq: 2, nil: undefined }),
    others: fc.array(otherMember, { maxLength: 3 }),
    duplicate: fc.boolean(),
    order: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
    space,
  })
  .map(({ id, name, tag, others, duplicate, order, space }) => {
    const members = [
      ...(id ? [`"id":${space}${id.text}`] : []),
      ...(name ? [`"name":${name.text}${space}`] : []),
      ...(tag ? [`${space}"tag":${tag.text}`] : []),
      ...others,
    ];
    const shuffled = members
      .map((member, index) => ({ member, rank: order[index] ?? 0 }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ member }) => member);
    // Of two members of a name the last one counts.
    if (duplicate && id) shuffled.unshift('"id":"overruled"');
    const complete = id?.value !== undefined && name?.value !== undefined && !(tag && tag.value === undefined);
    return {
      body: `${space}{${shuffled.join(`,${space}`)}}${space}`,
      plant: complete
        ? {
            id: id.value ?? 0n,
            name: name.value ?? '',
            ...(tag?.value !== undefined && { tag: tag.value }),
          }
        : undefined,
    };
  });

const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** What has the form of a JWT, with a header that may name a key of the provider, and a signature by nobody's key. */
export const forgedJwt: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.record(
        {
          alg: fc.constantFrom('RS256', 'none', 'HS256', 'ES256', 'EdDSA', 'RSA-OAEP', '', 7),
          kid: fc.constantFrom('key-1', 'key-2', '', 7, null),
          typ: fc.constantFrom('at+jwt', 'JWT', 'x', null, 7),
          crit: fc.constantFrom(['b64'], ['x'], [], 'b64', 7),
          b64: fc.boolean(),
          jwk: fc.constantFrom({ kty: 'oct', k: '' }, 7),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
    fc.oneof(fc.json(), fc.string({ unit: 'binary' })),
    fc.uint8Array({ maxLength: 300 }),
  )
  .map(([header, payload, signature]) =>
    [base64url(JSON.stringify(header)), base64url(payload), Buffer.from(signature).toString('base64url')].join('.'),
  );

/** A request of which every part may be wrong. */
export const oddRequest = fc.record({
  method: fc.oneof(
    { weight: 5, arbitrary: fc.constant('POST') },
    fc.constantFrom('GET', 'PUT', 'HEAD', 'OPTIONS', 'PROPFIND'),
  ),
  path: fc.oneof(
    { weight: 5, arbitrary: fc.constant('/plants') },
    fc.webPath(),
    fc.constantFrom('/plants/', '/plants//', '/%2e/plants', '/plants?a=b&a'),
  ),
  authorization: fc.oneof(
    { weight: 5, arbitrary: fc.constant(`Bearer ${DEVELOPMENT_TOKEN}`) },
    fc.constantFrom(
      '',
      'Bearer',
      `Basic ${DEVELOPMENT_TOKEN}`,
      `bearer  ${DEVELOPMENT_TOKEN}`,
      `Bearer plantstore_${'0'.repeat(43)}`,
    ),
    fc.string({ unit: 'grapheme-ascii' }),
    fc.constant(`Bearer ${'x'.repeat(9000)}`),
    forgedJwt.map((jwt) => `Bearer ${jwt}`),
  ),
  contentType: fc.oneof(
    { weight: 5, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      '',
      'text/plain',
      'application/json ; a="b;c"',
      'APPLICATION/JSON',
      'application/vnd.api+json',
      'application/json, text/plain',
    ),
    fc.string({ unit: 'grapheme-ascii' }),
  ),
  body: fc.oneof(
    writtenPlant.map(({ body }) => Buffer.from(body)),
    fc.json().map((text) => Buffer.from(text)),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.constant(Buffer.from('['.repeat(200_000))),
    fc.constant(Buffer.from('[{"a":'.repeat(30_000))),
  ),
});

const wellFormedRequest = Buffer.from(
  `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEVELOPMENT_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"id":1,"name":"raw"}`,
);

/** The bytes of a good request with some of them replaced, put in or left out. */
export const rawBytes: fc.Arbitrary<Buffer> = fc
  .array(
    fc.tuple(
      fc.nat({ max: wellFormedRequest.length }),
      fc.nat({ max: 5 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom(
            '\r\n',
            '\r\n\r\n',
            '\n',
            '\0',
            'Transfer-Encoding: chunked\r\n',
            'Expect: 100-continue\r\n',
            'Content-Length: 5\r\n',
            'Upgrade: h2c\r\nConnection: Upgrade\r\n',
            ' ',
            ':',
          )
          .map((text) => Buffer.from(text)),
      ),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) =>
    edits.reduce(
      (bytes, [at, removed, added]) => Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]),
      wellFormedRequest,
    ),
  );
