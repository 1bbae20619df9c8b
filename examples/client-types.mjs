/* Writes plant-store.ts: the types of openapi.yaml, in which an int64 is a bigint, and the names of these members. */
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const isInt64 = ({ type, format }) => type === 'integer' && format !== 'int32';
const contract = await openapiTS(readFileSync('openapi.yaml'), {
  transform: (schema) => (isInt64(schema) ? bigint : undefined),
});
const types = astToString(contract);
const code = types.replaceAll(/\/\*.*?\*\//gs, '');
const namesOf = (type) =>
  Array.from(code.matchAll(new RegExp(`(?:"([^"]+)"|(\\w+))\\??: ${type}`, 'g')), ([, quoted, name]) => quoted ?? name);
const own = namesOf('bigint\\b');
const names = [...own, ...own.flatMap((schema) => namesOf(`components\\["schemas"\\]\\["${schema}"\\]`))];
writeFileSync('plant-store.ts', `${types}\nexport const INT64_MEMBERS = new Set(${JSON.stringify(names)});\n`);
