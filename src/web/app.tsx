/** The frame around every page: who looks, whether news arrive, where to go; and which page an address is. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Caller, Welcome } from '../domain/review.ts'
import type { ApiFailure } from './api/client.ts'
import { get, onLoginNeeded, remove } from './api/client.ts'
import { events, useLink } from './api/live.ts'
import { paths } from './api/paths.ts'
import { Session } from './api/session.ts'
import { after } from './browser-clock.ts'
import { ComparisonPage } from './pages/comparison/page.tsx'
import { HostPage } from './pages/host.tsx'
import { HostsPage } from './pages/hosts.tsx'
import { IncidentPage } from './pages/incident/page.tsx'
import { IncidentsPage } from './pages/incidents.tsx'
import { InstancePage } from './pages/instance.tsx'
import { JournalBrowser } from './pages/journal.tsx'
import { LoginPage } from './pages/login.tsx'
import { MaintenancePage } from './pages/maintenance.tsx'
import { NoticesPage } from './pages/notices.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { PlanPage } from './pages/plan.tsx'
import { SegmentsPage } from './pages/segments.tsx'
import { Announcer } from './parts/announce.tsx'
import { matchPath } from './page-path.ts'
import { Plugs } from './parts/plugs.tsx'
import { PageHead } from './parts/page.tsx'
import { StandbyBar } from './parts/standby-bar.tsx'
import { SearchBox } from './parts/search-box.tsx'
import { Failed, Problem } from './parts/states.tsx'
import { ThemeButton } from './parts/theme-button.tsx'
import { followLinks, go, usePlace } from './router.ts'

/** Between two tries to reach a daemon that does not answer. */
const retryMs = 3_000

export function App() {
  const { path, query } = usePlace()
  const { caller, simulated, failure, stays, look, leave } = useLogin()
  const main = useRef<HTMLElement>(null)
  const shown = useRef(path)
  useEffect(followLinks, [])
  // A new page begins at its top also for those who do not see it; its heading is read out.
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    main.current?.focus({ preventScroll: true })
  }, [path])
  const back = query.get('to')
  const wanted = back?.startsWith('/') === true && !back.startsWith('//') ? back : '/'
  const loggedIn = useCallback(() => {
    go(wanted, { replace: true })
    look()
  }, [wanted, look])
  return (
    <Session.Provider value={caller}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <TopBar path={path} caller={caller} onLeave={leave} />
      {caller !== null && simulated && <Plugs />}
      <main id="main" ref={main} tabIndex={-1}>
        {caller !== null && <StandbyBar />}
        {stays !== null && <Problem title="You may still be logged in">{stays.message}.</Problem>}
        {failure !== null && caller === null && failure.status !== 401 ? (
          <>
            <PageHead title="Lifeboat cannot be asked" />
            <Failed of={failure} />
          </>
        ) : path === '/login' ? (
          <LoginPage to={wanted} onLogin={loggedIn} />
        ) : caller === null ? (
          <p class="loading">Loading…</p>
        ) : (
          <Page path={path} />
        )}
      </main>
      <Announcer />
    </Session.Provider>
  )
}

function useLogin() {
  const [caller, setCaller] = useState<Caller | null>(null)
  const [simulated, setSimulated] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [stays, setStays] = useState<ApiFailure | null>(null)
  const first = useRef(true)
  const look = useCallback(() => {
    const preloaded = first.current
    first.current = false
    get<Welcome>(paths.me, { preloaded }).then(
      ({ lastSeq, simulated: ofADemo, ...known }) => {
        setCaller(known)
        setSimulated(ofADemo === true)
        setFailure(null)
        // From there, and not from the beginning of the journal.
        events.open(lastSeq)
      },
      (thrown: unknown) => setFailure(thrown as ApiFailure),
    )
  }, [])
  // Before anything is asked: the answer may be a refusal.
  useLayoutEffect(
    () =>
      onLoginNeeded(() => {
        events.close()
        setCaller(null)
        if (location.pathname !== '/login')
          go(`/login?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`, { replace: true })
      }),
    [],
  )
  // Before the browser draws: every page waits for this.
  useLayoutEffect(look, [look])
  useEffect(() => {
    if (failure === null || !failure.passing) return undefined
    return after(retryMs, look)
  }, [failure, look])
  const leave = useCallback(() => {
    const gone = (): void => {
      events.close()
      setCaller(null)
      setStays(null)
      go('/login')
    }
    remove(paths.session).then(gone, (thrown: unknown) => {
      const refused = thrown as ApiFailure
      // Who is told that they are out while their session lives on leaves it to anyone who comes next.
      if (refused.status === 401) gone()
      else setStays(refused)
    })
  }, [])
  return { caller, simulated, failure, stays, look, leave }
}

function Page({ path }: { path: string }) {
  const incident = matchPath('/incidents/:id', path)
  if (incident !== null) return <IncidentPage key={incident['id']} id={incident['id'] ?? ''} />
  const compared = matchPath('/incidents/:id/compare/:other', path) ?? matchPath('/incidents/:id/compare', path)
  if (compared !== null) return <ComparisonPage key={path} id={compared['id'] ?? ''} other={compared['other'] ?? ''} />
  const instance = matchPath('/instances/:id', path)
  if (instance !== null) return <InstancePage key={instance['id']} id={instance['id'] ?? ''} />
  const host = matchPath('/hosts/:host', path)
  if (host !== null) return <HostPage key={host['host']} host={host['host'] ?? ''} />
  const plan = matchPath('/plan/:host', path)
  if (plan !== null) return <PlanPage key={plan['host']} host={plan['host'] ?? ''} />
  switch (path.replace(/(.)\/+$/, '$1')) {
    case '/':
      return <OverviewPage />
    case '/incidents':
      return <IncidentsPage />
    case '/hosts':
      return <HostsPage />
    case '/segments':
      return <SegmentsPage />
    case '/maintenance':
      return <MaintenancePage />
    case '/notices':
      return <NoticesPage />
    case '/journal':
      return <JournalBrowser />
    default:
      return (
        <>
          <PageHead title="There is no such page" />
          <p>
            <a href="/">Overview</a>
          </p>
        </>
      )
  }
}

const places = [
  ['/', 'Overview'],
  ['/incidents', 'Incidents'],
  ['/hosts', 'Hosts'],
  ['/segments', 'Segments'],
  ['/maintenance', 'Maintenance'],
  ['/notices', 'Notices'],
  ['/journal', 'Journal'],
] as const

function TopBar({ path, caller, onLeave }: { path: string; caller: Caller | null; onLeave: () => void }) {
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="Lifeboat">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="16" r="11" />
          <path d="M16 1v9M16 22v9M1 16h9M22 16h9" />
        </svg>
        <span class="word">Lifeboat</span>
      </a>
      {caller !== null && (
        <nav aria-label="Pages">
          {places.map(([to, name]) => (
            <a key={to} href={to} aria-current={isHere(to, path) ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
      )}
      <span class="push" />
      {caller !== null && <SearchBox />}
      {caller !== null && <LiveMark />}
      <ThemeButton />
      {caller !== null && (
        <span class="who">
          <span title={`${caller.name}, ${caller.role}`}>
            {caller.name} <span class="faint">{caller.role}</span>
          </span>
          {caller.by === 'token' && (
            <button type="button" class="quiet" onClick={onLeave}>
              Log out
            </button>
          )}
        </span>
      )}
    </header>
  )
}

function isHere(to: string, path: string): boolean {
  if (to === '/') return path === '/'
  return (
    path.startsWith(to) ||
    (to === '/incidents' && path.startsWith('/instances')) ||
    (to === '/hosts' && path.startsWith('/plan'))
  )
}

const linkWords = { live: 'live', joining: 'connecting', lost: 'disconnected, retrying' } as const

function LiveMark() {
  const state = useLink()
  return (
    <span class={`live-mark ${state}`} role="status">
      <span class="pulse" aria-hidden="true" />
      {linkWords[state]}
    </span>
  )
}
