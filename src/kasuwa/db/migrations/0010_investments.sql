-- Investments: savings accounts with the interest they earn, and thrift plans with their members.

-- One savings account of one client. What it holds is the account `savings:<savings_id>:NGN`; here is what was agreed and
-- how far its interest is counted: the ends of day before `counted_to`, as `accrued` kobo and `accrued_rest`
-- units of 1/36,500,000,000 of one, and of months that ended what is due and not yet paid. `months` of its term are closed.
-- `detail` names the thrift plans it takes part in that are not over, and the debts it owes in them, oldest first.
create table savings (
    key bytea not null,
    merchant_id bigint not null,
    savings_id text not null,
    number bigint not null,
    client_id text not null,
    name text not null,
    rate text not null,
    frequency text not null
        check (frequency in ('annualized', 'every_month', 'every_four_weeks', 'every_week', 'every_day')),
    annual bigint not null check (annual >= 0),
    tax_applied boolean not null,
    tax_rate text not null,
    period bigint not null check (period > 0),
    opened_at timestamptz not null,
    opened_on date not null,
    matures_on date not null,
    state text not null check (state in ('pending', 'active', 'matured', 'closed')),
    accrued bigint not null check (accrued >= 0),
    accrued_rest bigint not null check (accrued_rest between 0 and 36499999999),
    counted_to date not null,
    months bigint not null check (months between 0 and period),
    due_interest bigint not null check (due_interest >= 0),
    due_tax bigint not null check (due_tax between 0 and due_interest),
    detail json not null,
    primary key (key, merchant_id)
) with (fillfactor = 50);
create unique index savings_number on savings (merchant_id, number);
create index savings_client on savings (merchant_id, client_id, number);

-- Lists join savings with what they hold.
create index account_savings on account (merchant_id, name) where name like 'savings:%';

-- Savings that were opened on one day and so have their interest posted on the same days: one job posts for all of them.
-- `members` are their references, with commas between; who has matured and been paid goes. The first sheet of a day
-- counts in `opened` how many were opened on it.
create table savings_round (
    key bytea not null,
    merchant_id bigint not null,
    opened_on date not null,
    sheet bigint not null,
    opened bigint not null,
    members text not null,
    primary key (key, merchant_id)
) with (fillfactor = 50);

-- One thrift plan. `begins` is the day of its first cycle, known when it is full; `cycle` of its cycles are done, and the
-- next has been tried `tries` times without everybody being able to pay.
create table thrift_plan (
    key bytea not null,
    merchant_id bigint not null,
    thrift_id text not null,
    number bigint not null,
    name text not null,
    amount bigint not null check (amount > 0),
    frequency text not null check (frequency in ('every_day', 'every_week', 'every_four_weeks', 'every_month')),
    start_date date not null,
    member_required bigint not null check (member_required > 1),
    members bigint not null check (members between 0 and member_required),
    state text not null check (state in ('open', 'running', 'completed', 'cancelled')),
    begins date,
    cycle bigint not null check (cycle between 0 and member_required),
    tries bigint not null check (tries >= 0),
    next_date date,
    created_at timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index thrift_plan_number on thrift_plan (merchant_id, number);

-- A member of a plan, by its position, which is also the cycle whose pot it receives.
create table thrift_member (
    key bytea not null,
    merchant_id bigint not null,
    thrift_id text not null,
    position bigint not null check (position > 0),
    savings_id text not null,
    client_id text not null,
    contributed bigint not null check (contributed >= 0),
    received bigint not null check (received >= 0),
    owed bigint not null check (owed >= 0),
    paid_on date,
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index thrift_member_position on thrift_member (merchant_id, thrift_id, position);
create index thrift_member_savings on thrift_member (merchant_id, savings_id);
