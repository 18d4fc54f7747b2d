/** The login: the cloud's single sign-on, a Keystone user, or a token that someone has already. The pages keep neither password nor token. */
import { useState } from 'preact/hooks'
import type { Caller } from '../../domain/review.ts'
import { postQuestion, type ApiFailure } from '../api/client.ts'
import { paths } from '../api/paths.ts'
import { useTitle } from '../parts/page.tsx'
import { SingleSignOn, useSsoOffer } from '../parts/single-sign-on.tsx'

/** @param to path of the page that is wanted after the login */
export function LoginPage({ to, onLogin }: { to: string; onLogin: () => void }) {
  useTitle('Log in')
  const [by, setBy] = useState<'password' | 'token'>('password')
  const [known] = useState(remembered)
  const offer = useSsoOffer()
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const send = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    setSending(true)
    postQuestion<Caller>(paths.session, bodyOf(by, new FormData(form))).then(
      () => {
        if (by === 'password') remember(form)
        onLogin()
      },
      (thrown: unknown) => {
        setSending(false)
        setFailure(thrown as ApiFailure)
      },
    )
  }
  return (
    <div class="login">
      <h1>Log in</h1>
      <p class="under">With your account of this cloud. Your role in Keystone says what you may do here.</p>
      <SingleSignOn offer={offer} to={to} />
      <div class="choice" role="group" aria-label="How">
        <button type="button" aria-pressed={by === 'password'} onClick={() => setBy('password')}>
          Password
        </button>
        <button type="button" aria-pressed={by === 'token'} onClick={() => setBy('token')}>
          Token
        </button>
      </div>
      <form onSubmit={send} key={by}>
        {by === 'password' ? (
          <>
            <Field name="user" label="User" complete="username" value={known.user} />
            <Field name="password" label="Password" complete="current-password" type="password" />
            <Field
              name="project"
              label="Project"
              value={known.project}
              optional
              hint="Where your role is. Empty: Lifeboat’s own project."
            />
            <div class="pair">
              <Field name="userDomain" label="User domain" value={known.userDomain ?? 'Default'} />
              <Field name="projectDomain" label="Project domain" value={known.projectDomain ?? 'Default'} />
            </div>
          </>
        ) : (
          <Field name="token" label="Token" type="password" hint="As openstack token issue gives it." />
        )}
        {failure !== null && (
          <div class="notice bad" role="alert">
            <strong>Not logged in</strong>
            <p>
              {failure.message}.{failure.status === 0 && ' Try again.'}
            </p>
          </div>
        )}
        <button type="submit" class={offer.ways.length > 0 ? undefined : 'primary'} disabled={sending}>
          {sending ? 'Asking Keystone…' : 'Log in'}
        </button>
      </form>
    </div>
  )
}

/** Who logged in here last: at night nobody types five fields gladly. Never a secret. */
const rememberedFields = ['user', 'project', 'userDomain', 'projectDomain'] as const
const storedAs = 'lifeboat-login'

type Remembered = Partial<Record<(typeof rememberedFields)[number], string>>

function remember(form: HTMLFormElement): void {
  const given = new FormData(form)
  const kept = rememberedFields.map((name) => [name, given.get(name)])
  try {
    localStorage.setItem(storedAs, JSON.stringify(Object.fromEntries(kept)))
  } catch {
    // A browser that keeps nothing asks again.
  }
}

function remembered(): Remembered {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? '{}') as Remembered
  } catch {
    return {}
  }
}

interface FieldProps {
  name: string
  label: string
  type?: 'text' | 'password'
  complete?: string
  value?: string | undefined
  hint?: string
  optional?: boolean
}

function Field({ name, label, type = 'text', complete = 'off', value, hint, optional = false }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      {type === 'password' ? (
        <input name={name} type="password" autoComplete={complete} required />
      ) : (
        <input
          name={name}
          type="text"
          autoComplete={complete}
          required={!optional}
          defaultValue={value}
          spellcheck={false}
        />
      )}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  )
}

function bodyOf(by: 'password' | 'token', form: FormData): unknown {
  const text = (name: string): string => {
    const value = form.get(name)
    return typeof value === 'string' ? value : ''
  }
  if (by === 'token') return { token: text('token').trim() }
  return {
    user: text('user'),
    password: text('password'),
    userDomain: text('userDomain'),
    project: text('project') === '' ? null : { name: text('project'), domain: text('projectDomain') },
  }
}
