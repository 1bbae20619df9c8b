/** Verifies access tokens of one kind: opaque tokens or JWTs. */
export interface TokenVerifier {
  /**
   * Returns the name of a valid token, for the log.
   *
   * @param timeoutMs the time that the database may take, in milliseconds; a JWT needs no database
   * @throws 401 for any other token; 503 if the identity provider's keys are not available; the errors of
   * `DynamoDb.call`
   */
  verify(token: string, timeoutMs: number): Promise<string>;

  /**
   * Prepares the verifier in init, where Lambda gives more CPU, so that the first request does not wait. Never throws.
   */
  warmUp(): Promise<void>;
}
