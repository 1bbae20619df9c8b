import httpCors from '@middy/http-cors';
import { EXPOSED_HEADERS } from '../errors.ts';

/** Lets pages of the origins in ALLOW_ORIGINS (separated by commas) read responses. Without them, of no other origin. */
export function cors() {
  const origins = process.env['ALLOW_ORIGINS']?.split(',');
  return origins ? httpCors({ origins, exposeHeaders: EXPOSED_HEADERS }) : [];
}
