import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { Engine } from './engine.ts';

/** The name of a new, empty table of the engine with the keys of a table of the template, for one test alone. */
export async function ownTable({ client, template }: Engine, like: string): Promise<string> {
  const TableName = `own-${crypto.randomUUID()}`;
  const table = template.tables.find((one) => one.TableName === like);
  if (!table) throw new Error(`The template has no table ${like}.`);
  await client.send(new CreateTableCommand({ ...table, TableName }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.01 }, { TableName });
  return TableName;
}
