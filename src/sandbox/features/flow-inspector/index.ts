import type { SandboxFeature } from '../../feature.ts'

/** Links to the scenarios, as support staff show the sandbox and the scenarios in one demonstration. */
export default {
  create: ({ appUrl }) => ({ links: [{ href: `${appUrl}/scenarios`, label: 'Scenarios' }] }),
} satisfies SandboxFeature
