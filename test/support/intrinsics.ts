/**
 * A value of a template as text: `ID` for a Ref, `ID.ATTRIBUTE` for a Fn::GetAtt, the parts of a Fn::Join together.
 * Throws on any other function.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = value as { Ref?: string; 'Fn::GetAtt'?: [string, string]; 'Fn::Join'?: [string, unknown[]] };
  if (Ref !== undefined) return Ref;
  if (attribute) return attribute.join('.');
  if (join) return join[1].map(textOf).join(join[0]);
  throw new Error(`${JSON.stringify(value)} is unknown here.`);
}
