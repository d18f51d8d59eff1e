/** Part of a template, untyped: `npm run synth` validates it against CloudFormation's types. */
// biome-ignore lint/suspicious/noExplicitAny: types of our own would add no safety
export type TemplateObject = Readonly<Record<string, any>>;

/** A resource of a template. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: TemplateObject;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
  readonly Metadata?: TemplateObject;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** The parts of a CloudFormation template that are read here. */
export interface Template {
  readonly Metadata?: TemplateObject;
  readonly Parameters?: Readonly<Record<string, TemplateObject>>;
  readonly Conditions?: TemplateObject;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateObject>>;
}

/** A stack as a cloud assembly, the output of `cdk synth`, lists it. Files are relative to the assembly's folder. */
export interface ListedStack {
  /** As in CloudFormation: `WalletEu`. */
  readonly name: string;
  /** Such as `aws://111122223333/eu-central-1`, or `aws://unknown-account/eu-central-1`. */
  readonly target: string;
  readonly region: string;
  /** @default - the credentials' account */
  readonly account?: string;
  readonly terminationProtection: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** Where a deployment puts the template, such as `s3://BUCKET/KEY`. Without an account it contains the CDK's placeholder. */
  readonly templateUrl: string;
  readonly templateFile: string;
  /** The manifests of its assets. */
  readonly assetFiles: readonly string[];
}

export interface AssembledStack extends ListedStack {
  readonly template: Template;
}

/**
 * The stacks of an assembly. Reading its files is the caller's.
 *
 * @param manifest the content of `manifest.json`: https://docs.aws.amazon.com/cdk/api/v2/docs/cloud-assembly-schema-readme.html
 */
export function stacksIn({ artifacts = {} }: TemplateObject): readonly ListedStack[] {
  return Object.entries<TemplateObject>(artifacts)
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .map(([id, { environment: target, properties, dependencies = [] }]) => {
      const [, account, region = ''] = /^aws:\/\/(?:(\d{12})|[\w-]+)\/([\w-]+)$/.exec(target) ?? [];
      return {
        name: properties.stackName ?? id,
        target,
        region,
        ...(account && { account }),
        terminationProtection: properties.terminationProtection === true,
        tags: properties.tags ?? {},
        templateUrl: properties.stackTemplateAssetObjectUrl ?? '',
        templateFile: properties.templateFile,
        assetFiles: dependencies
          .map((each: string) => artifacts[each])
          .filter((each?: TemplateObject) => each?.type === 'cdk:asset-manifest')
          .map((each: TemplateObject) => each.properties.file),
      };
    });
}
