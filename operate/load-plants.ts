import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import autocannon from 'autocannon';
import { type HttpClient, parseResponse } from './client.ts';
import { plantsById, type Table } from './table.ts';

const FIRST_ID = 8_000_000_000_000_000_000n;
const IDS_A_RUN = 1_000_000n;
/** So many that two runs, at the same moment too, never draw the same ids. */
const DRAWS = 999_999_000_000;

interface Load {
  /** In seconds. */
  duration: number;
  connections: number;
  /** The most requests a second, by all connections together; as many as are answered by default. */
  rate?: number | undefined;
  /** Told each second. */
  onProgress: (sum: LoadSum) => void;
}

export interface LoadSum {
  /** The ids of the plants that an answer says are created, each once: a service at fault may tell one twice. */
  created: Set<string>;
  refused: NotCreated[];
}

/** A kind of answer that created no plant, with an example. */
interface NotCreated {
  kind: string;
  example?: string;
}

/** Creates plants as fast as they are taken, until the time is over or SIGINT ends it. */
export async function loadPlants(
  { baseUrl, token }: HttpClient,
  { duration, connections, rate, onProgress }: Load,
): Promise<LoadSum & { result: autocannon.Result }> {
  const sum: LoadSum = { created: new Set(), refused: [] };
  let next = FIRST_ID + BigInt(randomInt(DRAWS)) * IDS_A_RUN;
  const options: autocannon.Options = {
    url: `${baseUrl}/plants`,
    duration,
    connections,
    // Else a run would end up to a second after its time, or after SIGINT.
    sampleInt: 100,
    // autocannon would add latencies that nobody waited for, of 1 ms and up for each answer.
    ...(rate !== undefined && { overallRate: rate, ignoreCoordinatedOmission: true }),
    requests: [
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        setupRequest: (request) => {
          next += 1n;
          // The answer tells the name alone, so it carries the id.
          return { ...request, body: `{"id":${next},"name":"load ${next}"}` };
        },
        onResponse: (status, body, _, headers = {}) => {
          // Its headers' names stand in the server's own casing.
          const contentType = Object.entries(headers).find(([name]) => /^content-type$/i.test(name))?.[1];
          const outcome = outcomeOf(status, contentType?.toString(), body);
          if (typeof outcome === 'string') sum.created.add(outcome);
          else sum.refused.push(outcome);
        },
      },
    ],
  };
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  run.on('tick', () => onProgress(sum));
  const stop = () => run.stop();
  process.once('SIGINT', stop);
  const result = await promise.finally(() => process.off('SIGINT', stop));
  return { ...sum, result };
}

/** The id of the plant that an answer says is created, or what it says else. */
function outcomeOf(status: number, contentType = 'no Content-Type', body: string): string | NotCreated {
  try {
    const response = parseResponse(status, contentType, body);
    if (response.status === 400) return { kind: `error ${response.error}` };
    const id = /^load (\d+)$/.exec(response.plant.name)?.[1];
    return id ?? { kind: 'a 200 with another plant', example: JSON.stringify(response.plant).slice(0, 200) };
  } catch (error) {
    const kind = `an answer outside the contract, status ${status}, ${contentType}`;
    return { kind, example: (error as Error).message };
  }
}

/** Which of the plants that were created the table does not hold exactly, by their ids. */
export async function notStored(table: Table, created: Set<string>): Promise<string[]> {
  const stored = await plantsById(table, [...created]);
  return [...created].filter((id) => !isDeepStrictEqual(stored.get(id), { id: { N: id }, name: { S: `load ${id}` } }));
}
