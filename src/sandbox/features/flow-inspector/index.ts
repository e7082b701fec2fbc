import type { SandboxFeature } from '../../feature.ts'

/** Links to the scenarios, because support staff show the sandbox and the scenarios in the same demo. */
export default {
  create: ({ appUrl }) => ({ links: [{ href: `${appUrl}/scenarios`, label: 'Scenarios' }] }),
} satisfies SandboxFeature
