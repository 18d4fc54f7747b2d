/** Nova's servers in Nova's JSON, and the same in our words. Nothing outside openstack/ sees these names. */
import { z } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import { diskInUse, type Flavor, type Instance } from '../domain/instance.ts'

const texts = z.record(z.string(), z.string())

const flavor = z.object({
  original_name: z.string(),
  vcpus: z.number(),
  ram: z.number(),
  disk: z.number(),
  ephemeral: z.number(),
  swap: z.number(),
  // Hidden by policy os-flavor-extra-specs:index.
  extra_specs: texts.default({}),
})

const known = z.object({
  id: z.string().min(1),
  name: z.string(),
  tenant_id: z.string(),
  user_id: z.string(),
  status: z.string(),
  created: z.string(),
  updated: z.string(),
  'OS-EXT-SRV-ATTR:host': z.string().nullable(),
  'OS-EXT-STS:vm_state': z.string(),
  'OS-EXT-STS:task_state': z.string().nullable(),
  'OS-EXT-STS:power_state': z.number().nullable(),
  'OS-SRV-USG:launched_at': z.string().nullable(),
  'OS-EXT-AZ:availability_zone': z.string().nullish(),
  locked: z.boolean(),
  /** From 2.73. */
  locked_reason: z.string().nullish(),
  metadata: texts,
  tags: z.array(z.string()),
  flavor,
  /** An empty string, or null: boot from volume. */
  image: z.union([z.object({ id: z.string() }), z.literal(''), z.null()]),
  'os-extended-volumes:volumes_attached': z.array(z.object({ id: z.string() })),
  fault: z.object({ message: z.string().nullish(), details: z.string().nullish() }).optional(),
})

/** All that Nova knows of an instance whose cell it cannot reach (from 2.69). */
const unreachable = z.object({ id: z.string().min(1), status: z.literal('UNKNOWN') })

type ServerJson = z.infer<typeof known>
/** What is no full record must be one of an unreachable cell; everything else is malformed, with the path of the fault. */
const server = z.unknown().transform((value, context): ServerJson | z.infer<typeof unreachable> => {
  const full = known.safeParse(value)
  if (full.success) return full.data
  const partial = unreachable.safeParse(value)
  if (partial.success) return partial.data
  for (const issue of full.error.issues) context.addIssue({ code: 'custom', message: issue.message, path: issue.path })
  return z.NEVER
})

export const serverAnswer = z.object({ server })
export const serversAnswer = z.object({ servers: z.array(server), servers_links: z.array(z.unknown()).optional() })

/** @throws LifeboatError API_UNAVAILABLE for an instance in an unreachable cell: its true state cannot be read */
export function instanceOf(json: z.infer<typeof server>): Instance {
  if (!('tenant_id' in json)) {
    throw new LifeboatError('API_UNAVAILABLE', 'Nova cannot reach the cell of an instance, so its state is not known', {
      retry: 'backoff',
      details: { instance: json.id },
    })
  }
  return {
    id: json.id,
    name: json.name,
    projectId: json.tenant_id,
    userId: json.user_id,
    host: textOrNull(json['OS-EXT-SRV-ATTR:host']),
    status: json.status,
    vmState: json['OS-EXT-STS:vm_state'],
    taskState: json['OS-EXT-STS:task_state'],
    powerState: json['OS-EXT-STS:power_state'] ?? 0,
    locked: json.locked,
    lockedReason: json.locked_reason ?? null,
    launchedAt: json['OS-SRV-USG:launched_at'],
    createdAt: json.created,
    updatedAt: json.updated,
    metadata: json.metadata,
    tags: json.tags,
    flavor: flavorOf(json.flavor),
    imageId: json.image === '' || json.image === null ? null : json.image.id,
    volumeIds: json['os-extended-volumes:volumes_attached'].map((volume) => volume.id),
    availabilityZone: textOrNull(json['OS-EXT-AZ:availability_zone']),
    fault: json.fault?.message ?? null,
    ...(diskInUse.test(json.fault?.details ?? '') && { diskInUse: true as const }),
  }
}

function flavorOf(json: z.infer<typeof flavor>): Flavor {
  return {
    name: json.original_name,
    vcpus: json.vcpus,
    ramMb: json.ram,
    diskGb: json.disk,
    ephemeralGb: json.ephemeral,
    swapMb: json.swap,
    extraSpecs: json.extra_specs,
  }
}

function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
