import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Attribute {
  'Fn::GetAtt': [string, string];
}

interface Statement {
  Action: string | string[];
  Resource: Attribute | Attribute[];
}

interface Resources {
  [logicalId: string]: {
    Type: string;
    Properties: {
      Role: Attribute;
      Roles: { Ref: string }[];
      PolicyDocument: { Statement: Statement[] };
    };
  };
}

/** What a function's role lets it do with the tables, as ACTION TABLE, the table by its logical id. */
export function databaseCallsOf(functionName: string, assembly: string): string[] {
  const { Resources } = JSON.parse(readFileSync(join(assembly, 'PlantStore.template.json'), 'utf8')) as {
    Resources: Resources;
  };
  const role = Resources[functionName]?.Properties.Role['Fn::GetAtt'][0];
  return Object.values(Resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => ({ action, resource }))),
    )
    .filter(({ action }) => action.startsWith('dynamodb:'))
    .map(({ action, resource }) => `${action.replace('dynamodb:', '')} ${resource['Fn::GetAtt'][0]}`)
    .toSorted();
}
