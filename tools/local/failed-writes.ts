import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Item } from '../../functions/shared/dynamodb/attributes.ts';
import { parseObject } from '../../functions/shared/parse-object.ts';
import { tableIds, tableKeys, tableLogicalId } from '../../infra/table-keys.ts';

/**
 * Adds the stored item to dynalite's response to a write whose condition failed. dynalite ignores
 * `ReturnValuesOnConditionCheckFailure` ("PutItem", "UpdateItem" and "DeleteItem", Amazon DynamoDB API Reference).
 */
export function addItemsToFailedWrites(server: Server): void {
  server.prependListener('request', (request, response) => {
    if (!/\.(Put|Update|Delete)Item$/.test(String(request.headers['x-amz-target']))) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const end = response.end.bind(response);
    const endWithItem = async (failure: string) => {
      const url = `http://127.0.0.1:${request.socket.localPort}`;
      const item = await storedItem(url, request.headers, JSON.parse(Buffer.concat(chunks).toString()));
      const body = JSON.stringify({ ...parseObject(failure), ...item });
      response.removeHeader('x-amz-crc32');
      response.setHeader('content-length', Buffer.byteLength(body));
      end(body);
    };
    // dynalite ends each response with one call, without a callback.
    response.end = (body?: unknown) => {
      if (String(body).includes('#ConditionalCheckFailedException')) void endWithItem(String(body));
      else end(body);
      return response;
    };
  });
}

/** The members of the three inputs that this reads. PutItem has `Item`, the others have `Key`. */
interface WriteInput {
  TableName?: string;
  Item?: Item;
  Key?: Item;
  ReturnValuesOnConditionCheckFailure?: string;
}

/** Reads the item with the key of an input that wants it. Returns it as in the response of GetItem. */
async function storedItem(url: string, sent: IncomingHttpHeaders, input: WriteInput): Promise<object> {
  const { TableName, Item = {}, ReturnValuesOnConditionCheckFailure: wanted } = input;
  const id = tableIds.find((each) => tableLogicalId(each) === TableName);
  if (wanted !== 'ALL_OLD' || !id) return {};
  const { name } = tableKeys[id];
  const { Key = { [name]: Item[name] } } = input;
  const { authorization = '', 'content-type': type = '', 'x-amz-date': date } = sent;
  const headers = { authorization, 'content-type': type, 'x-amz-date': String(date) };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.GetItem' },
    body: JSON.stringify({ TableName, Key, ConsistentRead: true }),
  });
  return parseObject(await response.text());
}
