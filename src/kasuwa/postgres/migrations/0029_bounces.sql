-- A mail that a mail system took may be returned later. The states of before are among these: no row is looked at.

alter table mail drop constraint mail_status_check;
alter table mail add constraint mail_status_check
    check (status in ('queued', 'sent', 'failed', 'unknown', 'bounced')) not valid;
alter table person_mail drop constraint person_mail_status_check;
alter table person_mail add constraint person_mail_status_check
    check (status in ('queued', 'sent', 'failed', 'unknown', 'bounced')) not valid;
